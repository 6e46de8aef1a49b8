import { messageOf } from '../errors.ts';
import { UncertainVersion } from './sync_error.ts';
import type { PolicyWorker, WorkerState } from './worker.ts';
import type { WorkerSync } from './worker_pool_options.ts';

/** What the pool does when a worker changes. */
export interface WorkerChanges {
  to(worker: PolicyWorker, state: WorkerState): void;
  /** Whoever waits for a worker may look again. */
  wake(): void;
  /** Nobody knows which version a worker outside of this process has now: it is down. */
  uncertain(worker: PolicyWorker, reason: unknown): void;
  onSync?(sync: WorkerSync): void;
}

/** Changes the versions of workers, one change at a time: stop routing, drain, load, resume. */
export class WorkerVersions {
  readonly #workers: readonly PolicyWorker[];
  readonly #changes: WorkerChanges;
  /** The version that was loaded last: a worker that comes back has lost it. */
  #newest: { version: number; path: string } | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(workers: readonly PolicyWorker[], changes: WorkerChanges) {
    this.#workers = workers;
    this.#changes = changes;
  }

  /** All workers to this version, one after the other; the rest serve on. */
  oneByOne(version: number, path: string): Promise<void> {
    return this.exclusively(async () => {
      for (const worker of this.#outdated(version)) {
        if (worker.state === 'out') continue;
        const drained = performance.now();
        await this.#drain(worker);
        await this.#load(worker, version, path, performance.now() - drained);
      }
    });
  }

  /** All workers to this version together: nobody serves before the last one has it. */
  together(version: number, path: string): Promise<void> {
    return this.exclusively(async () => {
      const workers = this.#outdated(version);
      const began = performance.now();
      await Promise.all(workers.map((worker) => this.#drain(worker)));
      const drain = performance.now() - began;
      await Promise.all(workers.map((worker) => this.#load(worker, version, path, drain, false)));
      for (const worker of workers) this.#resume(worker);
    });
  }

  /** Gives a worker that is up again, and has no requests, the version that the others have. */
  async restore(worker: PolicyWorker): Promise<void> {
    await worker.drain();
    const lost = this.#newest;
    if (lost && worker.canLoad) await worker.loadVersion(lost.version, lost.path);
  }

  /** Runs `change` when no other one is under way. */
  exclusively(change: () => Promise<void>): Promise<void> {
    const run = this.#last.then(change);
    this.#last = run.catch(() => {});
    return run;
  }

  #outdated(version: number): PolicyWorker[] {
    return this.#workers.filter((worker) => worker.state !== 'out' && worker.policy.version < version);
  }

  async #drain(worker: PolicyWorker): Promise<void> {
    this.#changes.to(worker, 'draining');
    await worker.drain();
  }

  async #load(worker: PolicyWorker, version: number, path: string, drain_ms: number, resume = true): Promise<void> {
    // It may have failed its last request while it drained.
    if (worker.state === 'out') return;
    const from_version = worker.policy.version;
    const began = performance.now();
    this.#changes.to(worker, 'loading');
    const failure: unknown = await worker.loadVersion(version, path).then(
      () => null,
      (error: unknown) => error ?? new Error('no reason given'),
    );
    const sync = {
      worker_id: worker.id,
      from_version,
      to_version: version,
      drain_ms,
      load_ms: performance.now() - began,
    };
    if (failure === null) this.#newest = { version, path };
    if (failure instanceof UncertainVersion && worker.circuit) this.#changes.uncertain(worker, failure);
    if (resume) this.#resume(worker);
    this.#changes.onSync?.(failure === null ? sync : { ...sync, error: messageOf(failure), cause: failure });
  }

  #resume(worker: PolicyWorker): void {
    if (worker.state !== 'out') this.#changes.to(worker, 'serving');
    this.#changes.wake();
  }
}
