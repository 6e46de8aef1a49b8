import { setMaxListeners } from 'node:events';
import { DartError, messageOf } from '../errors.ts';
import { isRequestsFault, ServerFailure } from '../policy/openai/failure.ts';
import type { Coordinates, Policy, PolicyReply, PolicyRequest } from '../policy/policy.ts';
import { ringAfter } from '../stream/timer.ts';
import { Circuit } from './circuit.ts';
import { watchWorker } from './health.ts';
import { PolicyWorker, type WatchedPolicy, type WorkerState, watchedOf } from './worker.ts';
import { NoPolicyLeft, type WorkerPoolOptions } from './worker_pool_options.ts';
import { WorkerVersions } from './worker_versions.ts';

export { NoPolicyLeft, type WorkerPoolOptions, type WorkerSync } from './worker_pool_options.ts';

const DEFAULT_MAX_FAILURES = 16;
/** A request that one worker failed is asked of this many others before its episode ends in an error. */
const RETRIES = 1;

/**
 * The policy as workers: each request goes to the serving worker with the least to do. Workers change versions one
 * at a time (stop routing, drain, load, resume) while the others serve on, or all together as the coupled baseline does.
 * Workers outside of this process are watched: one that is down gets no requests until it is back, with the version
 * that the others have.
 */
export class WorkerPool {
  readonly name: string;
  readonly coordinates: Coordinates;
  readonly #workers: readonly PolicyWorker[];
  readonly #versions: WorkerVersions;
  readonly #options: WorkerPoolOptions;
  readonly #resumed: (() => void)[] = [];
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>[] = [];
  /** Those that were told to be down. */
  readonly #down = new Set<PolicyWorker>();
  #lastError: unknown = null;
  /** Since when no worker was up; null while one is. */
  #deadSince: number | null = null;

  /** All policies are the same one, opened several times; there is at least one. */
  constructor(policies: readonly Policy[], options: WorkerPoolOptions = {}) {
    const first = policies[0];
    if (!first) throw new DartError('a worker pool needs at least one policy', { where: '--workers' });
    this.name = first.name;
    this.coordinates = first.coordinates;
    this.#options = options;
    setMaxListeners(0, this.#closing.signal);
    this.#workers = policies.map((policy, index) => {
      const circuit = watchedOf(policy) && new Circuit(options.circuit);
      return new PolicyWorker(`${policy.name}-${index}`, policy, circuit, options.onBusy);
    });
    this.#versions = new WorkerVersions(this.#workers, {
      to: (worker, state) => this.#to(worker, state),
      wake: () => this.#wake(),
      uncertain: (worker, reason) => this.#wentDown(worker, reason),
      onSync: options.onSync,
    });
    for (const worker of this.#workers) this.#watch(worker, watchedOf(worker.policy));
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

  get workers(): readonly { id: string; state: WorkerState; version: number; inFlight: number; foreign: number }[] {
    return this.#workers.map(({ id, state, inFlight, foreign, policy }) => {
      return { id, state, inFlight, foreign, version: policy.version };
    });
  }

  /** Requests that no worker could take yet. */
  get waiting(): number {
    return this.#resumed.length;
  }

  get canLoad(): boolean {
    return this.#workers.every((worker) => worker.canLoad);
  }

  /**
   * One whole reply. A worker that fails is asked no second time for the same request; another one is. One that nobody
   * answers at has not been asked: the request goes elsewhere, or waits until a worker is back.
   * @throws NoPolicyLeft when all workers are out for good; else what the last worker asked threw.
   */
  async act(request: PolicyRequest): Promise<PolicyReply> {
    let asked: readonly PolicyWorker[] = [];
    for (;;) {
      request.signal?.throwIfAborted();
      const worker = this.#choose(asked);
      if (!worker) {
        await this.#untilResumed(request.signal);
        continue;
      }
      try {
        // Counts as in flight from here on, before anybody else can choose.
        const reply = await worker.act(request);
        this.#succeeded(worker);
        return reply;
      } catch (error) {
        request.signal?.throwIfAborted();
        this.#failed(worker, error);
        if (isUnreachable(error) && worker.circuit) continue;
        asked = [...asked, worker];
        const others = this.#workers.some((other) => other.state !== 'out' && !asked.includes(other));
        if (asked.length > RETRIES || !others) throw error;
      }
    }
  }

  /** All workers to this version, one after the other; the rest serve on. */
  syncOneByOne(version: number, path: string): Promise<void> {
    return this.#versions.oneByOne(version, path);
  }

  /** All workers to this version together: nobody serves before the last one has it. */
  syncTogether(version: number, path: string): Promise<void> {
    return this.#versions.together(version, path);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#watching);
    await Promise.all(this.#workers.map((worker) => worker.policy.close()));
  }

  /** The worker with the least to do that is not in `asked`; null while none such takes requests. */
  #choose(asked: readonly PolicyWorker[]): PolicyWorker | null {
    let best: PolicyWorker | null = null;
    for (const worker of this.#workers) {
      if (!worker.takes || asked.includes(worker)) continue;
      if (best === null || worker.load < best.load) best = worker;
    }
    if (best === null && this.#patience() <= 0) throw this.#noneLeft();
    return best;
  }

  /** How long a request may still wait for a worker, ms: for ever while one is up. */
  #patience(): number {
    if (this.#deadSince === null) return Number.POSITIVE_INFINITY;
    if (!this.#workers.some((worker) => worker.circuit)) return 0;
    return this.#deadSince + (this.#options.patienceMs ?? 300_000) - performance.now();
  }

  async #untilResumed(signal?: AbortSignal): Promise<void> {
    const wake = () => this.#wake();
    const patience = this.#patience();
    const timer = Number.isFinite(patience) ? ringAfter(patience + 1, wake) : undefined;
    signal?.addEventListener('abort', wake, { once: true });
    await new Promise<void>((resolve) => this.#resumed.push(resolve));
    signal?.removeEventListener('abort', wake);
    timer?.stop();
  }

  #succeeded(worker: PolicyWorker): void {
    if (worker.circuit?.succeeded() && this.#down.delete(worker)) this.#options.onBack?.(worker.id);
    // Others may have waited behind a trial.
    if (this.#resumed.length > 0) this.#wake();
  }

  #failed(worker: PolicyWorker, error: unknown): void {
    worker.failures += 1;
    this.#lastError = error;
    const { circuit } = worker;
    if (circuit && isRequestsFault(error)) {
      this.#wake();
      return;
    }
    if (circuit) {
      const opened = circuit.failed(isUnreachable(error));
      if (opened) this.#out(worker);
      this.#options.onFailure?.(worker.id, error, opened && this.#isNews(worker), true);
      if (!opened) this.#wake();
      return;
    }
    const out = worker.failures >= (this.#options.maxFailures ?? DEFAULT_MAX_FAILURES);
    if (out) this.#out(worker);
    this.#options.onFailure?.(worker.id, error, out, false);
  }

  #out(worker: PolicyWorker): void {
    if (worker.state !== 'out') this.#to(worker, 'out');
    if (this.#workers.every(({ state }) => state === 'out')) this.#deadSince ??= performance.now();
    this.#wake();
  }

  #noneLeft(): NoPolicyLeft {
    const watched = this.#workers.some((worker) => worker.circuit);
    return new NoPolicyLeft(`no policy worker is left; the last one failed: ${messageOf(this.#lastError)}`, {
      where: this.name,
      hint: watched
        ? (this.#options.whenNoneLeft ?? 'start the servers again')
        : 'another --policy, or tasks that this one can do',
    });
  }

  #watch(worker: PolicyWorker, policy: WatchedPolicy | null): void {
    if (!policy) return;
    const onDown = (reason: unknown) => this.#wentDown(worker, reason);
    policy.onDown = onDown;
    if (policy.down !== null) onDown(policy.down);
    const { healthIntervalMs = 5000 } = this.#options;
    const options = {
      healthIntervalMs,
      signal: this.#closing.signal,
      onDown,
      revive: () => this.#revive(worker, policy),
    };
    this.#watching.push(watchWorker(worker, policy, options));
  }

  #wentDown(worker: PolicyWorker, reason: unknown): void {
    if (worker.state === 'out') return;
    this.#lastError = reason;
    worker.circuit!.failed(true);
    this.#out(worker);
    this.#options.onFailure?.(worker.id, reason, this.#isNews(worker), true);
  }

  /** That it is down is told once, however many trials fail, until a request has gone well. */
  #isNews(worker: PolicyWorker): boolean {
    if (this.#down.has(worker)) return false;
    this.#down.add(worker);
    return true;
  }

  /** A worker that is up again gets the version that the others have before it gets requests. */
  #revive(worker: PolicyWorker, policy: WatchedPolicy): Promise<void> {
    return this.#versions.exclusively(async () => {
      await policy.cameBack();
      await this.#versions.restore(worker);
      worker.circuit!.tryAgain();
      this.#deadSince = null;
      this.#to(worker, 'serving');
      this.#wake();
    });
  }

  #wake(): void {
    for (const resumed of this.#resumed.splice(0)) resumed();
  }

  #to(worker: PolicyWorker, state: WorkerState): void {
    worker.state = state;
    this.#options.onState?.(worker.id, state, worker.policy.version);
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof ServerFailure && error.kind === 'unreachable';
}
