import { Random } from '../stream/random.ts';
import { type Preference, SCHEMA_VERSION, type Trajectory } from '../stream/records.ts';
import type { Scored } from './success.ts';

/** Why a task gives no pair. */
export type NoPair = 'no_success' | 'no_failure';

export interface PairOptions {
  /** Rewards above this are successes (desirable). */
  threshold: number;
  /** Pairs of a task, where it has so many. */
  pairs: number;
  seed: number;
}

/** One side of a preference: an episode. */
function side({ trajectory_id, reward, steps }: Scored) {
  return { trajectory_id, reward, steps };
}

function about({ task_id, domain, instruction }: Trajectory) {
  return { type: 'preference' as const, v: SCHEMA_VERSION as 1, task_id, domain, instruction };
}

/** KTO: each episode with a label, desirable where its reward is above the threshold. */
export function labelled(trajectory: Scored, threshold: number): Preference {
  const label = trajectory.reward > threshold;
  return { ...about(trajectory), objective: 'kto', label, completion: side(trajectory) };
}

interface Pools {
  domain: string;
  success: Reservoir;
  failure: Reservoir;
}

/**
 * DPO: pairs of a success and a failure of the same task, drawn at random. Of each task at most `pairs` successes and as
 * many failures are held, drawn evenly from all that came, so a long stream takes no more memory than a short one of the
 * same tasks. The same stream and seed give the same pairs.
 */
export class PairSampler {
  readonly #options: PairOptions;
  readonly #tasks = new Map<string, Pools>();

  constructor(options: PairOptions) {
    this.#options = options;
  }

  offer(trajectory: Scored): void {
    const { task_id, domain, reward } = trajectory;
    let pools = this.#tasks.get(task_id);
    if (!pools) {
      const reservoir = (name: string) =>
        new Reservoir(this.#options.pairs, new Random(this.#options.seed).fork(`${task_id} ${name}`));
      pools = { domain, success: reservoir('success'), failure: reservoir('failure') };
      this.#tasks.set(task_id, pools);
    }
    pools[reward > this.#options.threshold ? 'success' : 'failure'].offer(trajectory);
  }

  /** The pairs, or why there are none, task by task in the order in which they first came. */
  *results(): Generator<{ task_id: string; domain: string; pairs: Preference[]; missing: NoPair | null }, void, void> {
    for (const [task_id, { domain, success, failure }] of this.#tasks) {
      const random = new Random(this.#options.seed).fork(`${task_id} pairs`);
      const chosen = random.shuffle([...success.items]);
      const rejected = random.shuffle([...failure.items]);
      const pairs = crossed(chosen, rejected)
        .slice(0, this.#options.pairs)
        .map(([a, b]) => pairOf(a, b));
      const missing = chosen.length === 0 ? 'no_success' : rejected.length === 0 ? 'no_failure' : null;
      yield { task_id, domain, pairs, missing };
    }
  }
}

function pairOf(chosen: Scored, rejected: Scored): Preference {
  return { ...about(chosen), objective: 'dpo', chosen: side(chosen), rejected: side(rejected) };
}

/** All combinations, ordered so that each item is used once before any is used again. */
export function crossed<T>(left: readonly T[], right: readonly T[]): [T, T][] {
  const [long, short] = left.length >= right.length ? [left, right] : [right, left];
  const order = short.flatMap((_, shift) => long.map((item, i) => [item, short[(i + shift) % short.length]!] as const));
  return order.map(([a, b]): [T, T] => (long === left ? [a, b] : [b, a]));
}

/** Algorithm R (Vitter 1985): each of all items that came has the same chance to be among the `size` that are held. */
class Reservoir {
  readonly items: Scored[] = [];
  readonly #size: number;
  readonly #random: Random;
  #seen = 0;

  constructor(size: number, random: Random) {
    this.#size = size;
    this.#random = random;
  }

  offer(item: Scored): void {
    this.#seen += 1;
    if (this.items.length < this.#size) {
      this.items.push(item);
      return;
    }
    const place = this.#random.int(this.#seen);
    if (place < this.#size) this.items[place] = item;
  }
}
