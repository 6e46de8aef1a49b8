import { fingerprint } from '../store/index.ts';
import { earlierReplies, earlierScreenshots } from '../stream/history.ts';
import { type Demonstration, SCHEMA_VERSION, type Trajectory } from '../stream/records.ts';
import type { Scored } from './success.ts';

/** Earlier replies that a prompt holds at most (design §6). */
const MAX_HISTORY = 35;

export interface RejectionOptions {
  /** Only rewards above this. */
  threshold: number;
  /** Most demonstrated episodes of a task; null for all. */
  perTask: number | null;
  /** Which ones, where there are more. */
  prefer: 'newest' | 'shortest';
}

/** What became of an episode. */
export type Verdict = 'taken' | 'error' | 'below_threshold' | 'repeated' | 'surplus';

/**
 * Reject sampling: of many rollouts the successes are kept, each episode (what was seen and answered) once, and of a
 * task at most `perTask`. Without that limit episodes pass one by one; with it at most `perTask` of each task are held
 * until the end.
 */
export class RejectionSampler {
  /** Episodes by what became of them. */
  readonly verdicts: Record<Verdict, number> = { taken: 0, error: 0, below_threshold: 0, repeated: 0, surplus: 0 };
  readonly #options: RejectionOptions;
  readonly #seen = new Set<string>();
  readonly #held = new Map<string, { trajectory: Scored; order: number }[]>();
  #order = 0;

  constructor(options: RejectionOptions) {
    this.#options = options;
  }

  /** The episode, where it can be handed on at once; null where it is held or rejected. */
  offer(trajectory: Trajectory): Scored | null {
    const rejected = this.#rejection(trajectory);
    if (rejected !== null) {
      this.verdicts[rejected] += 1;
      return null;
    }
    this.verdicts.taken += 1;
    const scored = trajectory as Scored;
    if (this.#options.perTask === null) return scored;
    this.#hold(scored, this.#options.perTask);
    return null;
  }

  /** What was held, tasks in the order in which they first came. */
  *rest(): Generator<Scored, void, void> {
    for (const held of this.#held.values()) for (const { trajectory } of held) yield trajectory;
    this.#held.clear();
  }

  #rejection(trajectory: Trajectory): Verdict | null {
    if (trajectory.reward === null) return 'error';
    if (trajectory.reward <= this.#options.threshold) return 'below_threshold';
    const print = fingerprint(trajectory);
    if (this.#seen.has(print)) return 'repeated';
    this.#seen.add(print);
    return null;
  }

  #hold(trajectory: Scored, limit: number): void {
    const held = this.#held.get(trajectory.task_id) ?? [];
    this.#order += 1;
    held.push({ trajectory, order: this.#order });
    held.sort(this.#options.prefer === 'newest' ? byNewest : byLength);
    if (held.length > limit) {
      held.pop();
      this.verdicts.taken -= 1;
      this.verdicts.surplus += 1;
    }
    this.#held.set(trajectory.task_id, held);
  }
}

interface Held {
  trajectory: Scored;
  order: number;
}

/** By when they ended; of the same moment, whatever came later. */
function byNewest(a: Held, b: Held): number {
  return Date.parse(b.trajectory.finished_at) - Date.parse(a.trajectory.finished_at) || b.order - a.order;
}

function byLength(a: Held, b: Held): number {
  return a.trajectory.steps.length - b.trajectory.steps.length || byNewest(a, b);
}

/** One demonstration a step, with what its prompt held. Replies that could not be read teach nothing: they are left out. */
export function demonstrationsOf(trajectory: Scored): Demonstration[] {
  const { trajectory_id, task_id, domain, instruction, reward, steps } = trajectory;
  return steps.flatMap((step, position): Demonstration[] => {
    if (step.parse_error !== undefined) return [];
    const history = Math.min(step.prompt.history, MAX_HISTORY);
    const screenshots = earlierScreenshots(steps, position);
    return [
      {
        type: 'demonstration',
        v: SCHEMA_VERSION,
        task_id,
        domain,
        instruction,
        trajectory_id,
        step_index: step.index,
        reward,
        history: earlierReplies(steps, position, history),
        ...(screenshots.length > 0 ? { screenshots } : {}),
        step,
      },
    ];
  });
}
