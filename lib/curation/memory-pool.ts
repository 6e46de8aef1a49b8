import { fingerprint, hasLogprobs } from '../store/index.ts';
import type { Trajectory } from '../stream/records.ts';
import { type ExperiencePool, firstFit, type IsFit } from './pool.ts';
import type { Held, Shelf } from './shelf.ts';

interface Kept extends Held {
  print: string;
  scored: boolean;
}

/** The experience pool of a run without a store: it is as old as the process. */
export class MemoryPool implements ExperiencePool {
  readonly #capacity: number;
  readonly #shelf: Shelf | null;
  /** Oldest first. */
  readonly #successes = new Map<string, Kept[]>();

  /**
   * @param capacity successes kept per task.
   * @param shelf bounds the memory that they take.
   */
  constructor(capacity: number, shelf: Shelf | null = null) {
    this.#capacity = capacity;
    this.#shelf = shelf;
  }

  async add(successes: readonly Trajectory[]): Promise<number> {
    let added = 0;
    for (const success of successes) {
      if (await this.#addOne(success)) added += 1;
    }
    return added;
  }

  async newest(taskId: string, isFit?: IsFit): Promise<Trajectory | null> {
    const kept = this.#successes.get(taskId) ?? [];
    return firstFit(kept, kept.length - 1, (success) => this.#read(success), isFit);
  }

  async any(taskId: string, seed: number, isFit?: IsFit): Promise<Trajectory | null> {
    const kept = this.#successes.get(taskId) ?? [];
    return firstFit(kept, seed % Math.max(1, kept.length), (success) => this.#read(success), isFit);
  }

  /** The same episode is kept once, rather with log-probabilities than without. */
  async #addOne(trajectory: Trajectory): Promise<boolean> {
    const kept = this.#successes.get(trajectory.task_id) ?? [];
    const success: Kept = { trajectory, print: fingerprint(trajectory), scored: hasLogprobs(trajectory) };
    const same = kept.find((one) => one.print === success.print);
    if (same && (same.scored || !success.scored)) return false;
    const all = [...kept.filter((one) => one !== same), success];
    const left = all.splice(0, Math.max(0, all.length - this.#capacity));
    this.#successes.set(trajectory.task_id, all);
    for (const gone of same ? [same, ...left] : left) await this.#shelf?.release(gone);
    await this.#shelf?.hold(success);
    return true;
  }

  async #read(success: Kept): Promise<Trajectory> {
    return this.#shelf ? this.#shelf.read(success) : success.trajectory;
  }
}
