import type { Store } from '../store/index.ts';
import type { Trajectory } from '../stream/records.ts';
import { type ExperiencePool, firstFit, type IsFit } from './pool.ts';

/** The experience pool in the store: it outlives the process and is shared by all who open the store. */
export class StorePool implements ExperiencePool {
  readonly #store: Store;
  readonly #capacity: number;

  constructor(store: Store, capacity: number) {
    this.#store = store;
    this.#capacity = capacity;
  }

  add(successes: readonly Trajectory[]): Promise<number> {
    return this.#store.addExperience(successes, { capacity: this.#capacity });
  }

  async newest(taskId: string, isFit?: IsFit): Promise<Trajectory | null> {
    // One query where the newest will do, which is nearly always.
    const newest = await this.#store.newestSuccess(taskId);
    if (!newest || !isFit || isFit(newest)) return newest;
    const older = (await this.#oldestFirst(taskId)).filter((id) => id !== newest.trajectory_id);
    return firstFit(older, older.length - 1, (id) => this.#store.trajectory(id), isFit);
  }

  async any(taskId: string, seed: number, isFit?: IsFit): Promise<Trajectory | null> {
    const ids = await this.#oldestFirst(taskId);
    return firstFit(ids, seed % Math.max(1, ids.length), (id) => this.#store.trajectory(id), isFit);
  }

  async #oldestFirst(taskId: string): Promise<string[]> {
    return (await this.#store.experienceIds(taskId)).reverse();
  }
}
