import { fingerprint, hasLogprobs } from '../store/index.ts';
import type { Trajectory } from '../stream/records.ts';
import type { ExperiencePool } from './pool.ts';

/** The experience pool of a run without a store: it is as old as the process. */
export class MemoryPool implements ExperiencePool {
  readonly #capacity: number;
  /** Oldest first. */
  readonly #successes = new Map<string, Trajectory[]>();

  /** @param capacity successes kept per task. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  async add(successes: readonly Trajectory[]): Promise<number> {
    let added = 0;
    for (const success of successes) {
      if (this.#addOne(success)) added += 1;
    }
    return added;
  }

  async newest(taskId: string): Promise<Trajectory | null> {
    return this.#successes.get(taskId)?.at(-1) ?? null;
  }

  async any(taskId: string, seed: number): Promise<Trajectory | null> {
    const kept = this.#successes.get(taskId) ?? [];
    return kept[seed % Math.max(1, kept.length)] ?? null;
  }

  /** The same episode is kept once, rather with log-probabilities than without. */
  #addOne(success: Trajectory): boolean {
    const kept = this.#successes.get(success.task_id) ?? [];
    const print = fingerprint(success);
    const same = kept.find((one) => fingerprint(one) === print);
    if (same && (hasLogprobs(same) || !hasLogprobs(success))) return false;
    const others = kept.filter((one) => one !== same);
    this.#successes.set(success.task_id, [...others, success].slice(-this.#capacity));
    return true;
  }
}
