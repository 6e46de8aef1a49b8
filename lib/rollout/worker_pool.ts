import { DartError, messageOf } from '../errors.ts';
import type { Coordinates, Policy, PolicyReply, PolicyRequest } from '../policy/policy.ts';
import { PolicyWorker, type WorkerState } from './worker.ts';

/** One worker went from one version to another, or tried to. */
export interface WorkerSync {
  worker_id: string;
  from_version: number;
  to_version: number;
  /** Waiting for its requests in flight. */
  drain_ms: number;
  load_ms: number;
  error?: string;
}

export interface WorkerPoolOptions {
  /** After so many failures in a row a worker gets no more requests. */
  maxFailures?: number;
  onFailure?: (worker: string, error: unknown, out: boolean) => void;
  onSync?: (sync: WorkerSync) => void;
  onState?: (worker: string, state: WorkerState, version: number) => void;
}

/** No worker is left that could answer: not the failure of one episode but the end of the run. */
export class NoPolicyLeft extends DartError {}

const DEFAULT_MAX_FAILURES = 16;
/** A request that one worker failed is asked of this many others before its episode ends in an error. */
const RETRIES = 1;

/**
 * The policy as workers: each request goes to the serving worker with the least in flight. Workers change versions one
 * at a time (stop routing, drain, load, resume) while the others serve on, or all together as the coupled baseline does.
 */
export class WorkerPool {
  readonly name: string;
  readonly coordinates: Coordinates;
  readonly #workers: readonly PolicyWorker[];
  readonly #options: WorkerPoolOptions;
  readonly #resumed: (() => void)[] = [];
  #lastError: unknown = null;
  #syncing: Promise<unknown> = Promise.resolve();

  /** All policies are the same one, opened several times; there is at least one. */
  constructor(policies: readonly Policy[], options: WorkerPoolOptions = {}) {
    const first = policies[0];
    if (!first) throw new DartError('a worker pool needs at least one policy', { where: '--workers' });
    this.name = first.name;
    this.coordinates = first.coordinates;
    this.#workers = policies.map((policy, index) => new PolicyWorker(`${policy.name}-${index}`, policy));
    this.#options = options;
  }

  /** The newest version that any worker answers with. */
  get version(): number {
    return Math.max(...this.#workers.map((worker) => worker.policy.version));
  }

  /** The oldest version that any worker still answers with: where it lags behind, there is something to load. */
  get oldestVersion(): number {
    const working = this.#workers.filter((worker) => worker.state !== 'out');
    return Math.min(...working.map((worker) => worker.policy.version));
  }

  get workers(): readonly { id: string; state: WorkerState; version: number; inFlight: number }[] {
    return this.#workers.map(({ id, state, inFlight, policy }) => ({ id, state, inFlight, version: policy.version }));
  }

  get canLoad(): boolean {
    return this.#workers.every((worker) => worker.canLoad);
  }

  /**
   * One whole reply. A worker that fails is asked no second time for the same request; another one is.
   * @throws NoPolicyLeft when all workers are out; else what the last worker asked threw.
   */
  async act(request: PolicyRequest): Promise<PolicyReply> {
    const asked = new Set<PolicyWorker>();
    for (;;) {
      request.signal?.throwIfAborted();
      const worker = this.#choose(asked);
      if (!worker) {
        await this.#untilResumed(request.signal);
        continue;
      }
      try {
        // Counts as in flight from here on, before anybody else can choose.
        return await worker.act(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        asked.add(worker);
        this.#failed(worker, error);
        const others = this.#workers.some((other) => other.state !== 'out' && !asked.has(other));
        if (asked.size > RETRIES || !others) throw error;
      }
    }
  }

  /** All workers to this version, one after the other; the rest serve on. */
  syncOneByOne(version: number, path: string): Promise<void> {
    return this.#exclusively(async () => {
      for (const worker of this.#outdated(version)) {
        const drained = performance.now();
        await this.#drain(worker);
        await this.#load(worker, version, path, performance.now() - drained);
      }
    });
  }

  /** All workers to this version together: nobody serves before the last one has it. */
  syncTogether(version: number, path: string): Promise<void> {
    return this.#exclusively(async () => {
      const workers = this.#outdated(version);
      const began = performance.now();
      await Promise.all(workers.map((worker) => this.#drain(worker)));
      const drain = performance.now() - began;
      await Promise.all(workers.map((worker) => this.#load(worker, version, path, drain, false)));
      for (const worker of workers) this.#resume(worker);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.policy.close()));
  }

  /** The serving worker with the least in flight that is not in `asked`; null while all such are changing version. */
  #choose(asked: ReadonlySet<PolicyWorker>): PolicyWorker | null {
    let best: PolicyWorker | null = null;
    for (const worker of this.#workers) {
      if (worker.state !== 'serving' || asked.has(worker)) continue;
      if (best === null || worker.inFlight < best.inFlight) best = worker;
    }
    if (best === null && this.#workers.every((worker) => worker.state === 'out')) throw this.#noneLeft();
    return best;
  }

  async #untilResumed(signal?: AbortSignal): Promise<void> {
    const wake = () => this.#wake();
    signal?.addEventListener('abort', wake, { once: true });
    await new Promise<void>((resolve) => this.#resumed.push(resolve));
    signal?.removeEventListener('abort', wake);
  }

  #failed(worker: PolicyWorker, error: unknown): void {
    worker.failures += 1;
    const out = worker.failures >= (this.#options.maxFailures ?? DEFAULT_MAX_FAILURES);
    if (out && worker.state !== 'out') this.#to(worker, 'out');
    this.#lastError = error;
    this.#options.onFailure?.(worker.id, error, out);
    if (out) this.#wake();
  }

  #noneLeft(): NoPolicyLeft {
    return new NoPolicyLeft(`no policy worker is left; the last one failed: ${messageOf(this.#lastError)}`, {
      where: this.name,
      hint: 'another --policy, or tasks that this one can do',
    });
  }

  #outdated(version: number): PolicyWorker[] {
    return this.#workers.filter((worker) => worker.state !== 'out' && worker.policy.version < version);
  }

  async #drain(worker: PolicyWorker): Promise<void> {
    this.#to(worker, 'draining');
    await worker.drain();
  }

  async #load(worker: PolicyWorker, version: number, path: string, drain_ms: number, resume = true): Promise<void> {
    // It may have failed its last request while it drained.
    if (worker.state === 'out') return;
    const from_version = worker.policy.version;
    const began = performance.now();
    this.#to(worker, 'loading');
    const error = await worker.load(version, path).then(() => undefined, messageOf);
    const sync = {
      worker_id: worker.id,
      from_version,
      to_version: version,
      drain_ms,
      load_ms: performance.now() - began,
    };
    if (resume) this.#resume(worker);
    this.#options.onSync?.(error === undefined ? sync : { ...sync, error });
  }

  #resume(worker: PolicyWorker): void {
    if (worker.state !== 'out') this.#to(worker, 'serving');
    this.#wake();
  }

  #wake(): void {
    for (const resumed of this.#resumed.splice(0)) resumed();
  }

  #to(worker: PolicyWorker, state: WorkerState): void {
    worker.state = state;
    this.#options.onState?.(worker.id, state, worker.policy.version);
  }

  #exclusively(sync: () => Promise<void>): Promise<void> {
    const run = this.#syncing.then(sync);
    this.#syncing = run.catch(() => {});
    return run;
  }
}
