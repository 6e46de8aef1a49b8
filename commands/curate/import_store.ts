import { forPool } from '../../lib/curation/import/pool.ts';
import type { Store } from '../../lib/store/index.ts';
import type { Trajectory } from '../../lib/stream/records.ts';

/** Trajectories that are stored in one go. */
const BATCH = 50;

/** Where imported trajectories are kept: all as experience, the successes in the pool too. */
export class ImportStore {
  /** New to the store. */
  stored = 0;
  /** New to the pool. */
  pooled = 0;
  readonly #store: Store;
  readonly #capacity: number;
  #batch: Trajectory[] = [];

  constructor(store: Store, capacity: number) {
    this.#store = store;
    this.#capacity = capacity;
  }

  async add(trajectory: Trajectory): Promise<void> {
    this.#batch.push(trajectory);
    if (this.#batch.length >= BATCH) await this.flush();
  }

  async flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return;
    const successes = await forPool(this.#store, batch, this.#capacity);
    this.stored += await this.#store.insertTrajectories(batch, { experience: true });
    this.pooled += await this.#store.addExperience(successes, { capacity: this.#capacity, experience: true });
  }
}
