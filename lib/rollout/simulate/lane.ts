import type { WorkItem } from '../scheduler.ts';
import type { Observed } from '../task_progress.ts';
import type { RolloutPlan } from './plan.ts';

/** One desktop of a simulation, and the rollout on it. */
export class Lane {
  readonly index: number;
  item: WorkItem | null = null;
  phase: 'resetting' | 'asking' | 'acting' | 'evaluating' = 'resetting';
  steps = 0;
  /** When its rollout began. */
  since = 0;
  /** The oldest version that gave it a reply. */
  oldest = 0;
  /** Of the plan and of the group, here because they are looked at after each step. */
  #planned = 0;
  #most = 0;
  #success = false;

  constructor(index: number) {
    this.index = index;
  }

  begin(item: WorkItem, plan: RolloutPlan, version: number, now: number): void {
    this.item = item;
    this.#planned = plan.steps;
    this.#success = plan.success;
    this.#most = item.group.maxSteps;
    this.phase = 'resetting';
    this.steps = 0;
    this.since = now;
    this.oldest = version;
  }

  /** A reply came from a worker of this version. */
  took(version: number): void {
    this.oldest = this.steps === 0 ? version : Math.min(this.oldest, version);
    this.steps += 1;
  }

  /** The last reply ended the episode. */
  get done(): boolean {
    return this.steps >= this.#planned;
  }

  get atLimit(): boolean {
    return this.steps >= this.#most;
  }

  result(): Observed {
    const success = this.#success && this.done;
    return {
      task_id: this.item!.group.task.task_id,
      reward: success ? 1 : 0,
      outcome: success ? 'success' : this.done ? 'failure' : 'truncated',
      steps: { length: this.steps },
    };
  }
}
