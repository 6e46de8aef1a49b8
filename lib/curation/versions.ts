import type { Store } from '../store/index.ts';
import type { Checkpoint, Trajectory } from '../stream/records.ts';
import { newestVersion } from './staleness.ts';

/** How long an answer of the store is good for. */
const FRESH_MS = 500;

/**
 * The current model version of each run, from whatever speaks of it: the store, `checkpoint` records in the stream, and
 * the trajectories themselves (what was sampled with version 12 proves that there is a version 12).
 */
export class CurrentVersions {
  readonly #store: Store | null;
  readonly #now: () => number;
  readonly #seen = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  /** From checkpoints that do not name a run. */
  #anywhere = -1;

  /** @param now milliseconds; for tests. */
  constructor(store: Store | null, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  checkpoint(checkpoint: Checkpoint): void {
    const run = checkpoint.run_id;
    if (typeof run === 'string') this.#raise(run, checkpoint.version);
    else this.#anywhere = Math.max(this.#anywhere, checkpoint.version);
  }

  trajectory(trajectory: Trajectory): void {
    this.#raise(trajectory.run_id, newestVersion(trajectory));
  }

  /** Null while nothing is known. */
  async current(runId: string): Promise<number | null> {
    await this.#ask(runId);
    const version = Math.max(this.#anywhere, this.#seen.get(runId) ?? -1);
    return version < 0 ? null : version;
  }

  /** What is known so far, for the next run; versions of no particular run under an empty name. */
  snapshot(): Record<string, number> {
    const named = Object.fromEntries(this.#seen);
    return this.#anywhere < 0 ? named : { ...named, '': this.#anywhere };
  }

  /** Takes up a snapshot. */
  restore(versions: Readonly<Record<string, number>>): void {
    for (const [run, version] of Object.entries(versions)) {
      if (run === '') this.#anywhere = Math.max(this.#anywhere, version);
      else this.#raise(run, version);
    }
  }

  async #ask(runId: string): Promise<void> {
    if (!this.#store) return;
    const now = this.#now();
    if (now - (this.#asked.get(runId) ?? Number.NEGATIVE_INFINITY) < FRESH_MS) return;
    this.#asked.set(runId, now);
    const latest = await this.#store.latestVersion(runId);
    if (latest) this.#raise(runId, latest.version);
  }

  #raise(runId: string, version: number): void {
    this.#seen.set(runId, Math.max(version, this.#seen.get(runId) ?? -1));
  }
}
