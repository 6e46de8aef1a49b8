import type { Task } from '../stream/records.ts';
import { SUCCESS_ABOVE } from './success.ts';

export interface SelectionOptions {
  /** Successes that a task needs. */
  minSuccess: number;
  /** Baseline rollouts of a task that are looked at, the first that come. */
  rollouts: number;
  excludeInfeasible: boolean;
}

export type DropReason = 'no_rollout' | 'too_few_successes' | 'infeasible';

/** A task's baseline. */
export interface Baseline {
  task_id: string;
  domain: string;
  /** Scored rollouts that were looked at. */
  rollouts: number;
  successes: number;
  /** Rollouts that ended in an error: they say nothing about the task. */
  errors: number;
}

/** True for a task that can only be answered by FAIL. */
export function isInfeasible(task: Pick<Task, 'evaluator'>): boolean {
  const { func } = task.evaluator;
  return func === 'infeasible' || (Array.isArray(func) && func.includes('infeasible'));
}

/**
 * ARPO's choice of tasks (reference/dart-and-arpo.md §2): those that the base policy can solve at least once in 16
 * rollouts, so that groups have something to learn from. Counts only; holds no trajectory.
 */
export class TaskSelection {
  readonly #options: SelectionOptions;
  readonly #baselines = new Map<string, Baseline>();

  constructor(options: SelectionOptions) {
    this.#options = options;
  }

  /** A task that is to be judged, whether or not a rollout of it comes. */
  meet(task_id: string, domain: string): Baseline {
    const known = this.#baselines.get(task_id);
    if (known) return known;
    const fresh: Baseline = { task_id, domain, rollouts: 0, successes: 0, errors: 0 };
    this.#baselines.set(task_id, fresh);
    return fresh;
  }

  /** One rollout: its reward, null after an error. */
  count(task_id: string, domain: string, reward: number | null): void {
    const baseline = this.meet(task_id, domain);
    if (reward === null) {
      baseline.errors += 1;
      return;
    }
    if (baseline.rollouts >= this.#options.rollouts) return;
    baseline.rollouts += 1;
    if (reward > SUCCESS_ABOVE) baseline.successes += 1;
  }

  /** Every task with the reason why it is dropped, null where it is kept; in the order in which they first came. */
  *results(
    tasks: ReadonlyMap<string, Task>,
  ): Generator<{ baseline: Baseline; dropped: DropReason | null }, void, void> {
    for (const baseline of this.#baselines.values()) {
      yield { baseline, dropped: this.#judge(baseline, tasks.get(baseline.task_id)) };
    }
  }

  #judge({ rollouts, successes }: Baseline, task: Task | undefined): DropReason | null {
    if (this.#options.excludeInfeasible && task && isInfeasible(task)) return 'infeasible';
    if (rollouts === 0) return 'no_rollout';
    return successes < this.#options.minSuccess ? 'too_few_successes' : null;
  }
}
