import type { Store } from '../store/index.ts';
import type { Trajectory } from '../stream/records.ts';
import type { ExperiencePool } from './pool.ts';

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

  newest(taskId: string): Promise<Trajectory | null> {
    return this.#store.newestSuccess(taskId);
  }

  async any(taskId: string, seed: number): Promise<Trajectory | null> {
    const oldestFirst = (await this.#store.experienceIds(taskId)).reverse();
    const id = oldestFirst[seed % Math.max(1, oldestFirst.length)];
    return id === undefined ? null : this.#store.trajectory(id);
  }
}
