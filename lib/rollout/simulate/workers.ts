import { Agenda } from './agenda.ts';
import { BatchServer, type Slowdown, slowdownOf } from './server.ts';

export interface VirtualWorkersOptions {
  count: number;
  slowdown: Slowdown;
  sync: 'one' | 'global';
  /** How long a worker takes to load a version. */
  load: (version: number, worker: number) => number;
  /** Sets the next moment at which `due` is to be called for a worker; Infinity: none. */
  setMoment: (worker: number, at: number) => void;
  onReply: (lane: number, version: number, now: number) => void;
  /** All workers have this version. */
  onLoaded: (version: number) => void;
}

interface VirtualWorker {
  server: BatchServer;
  version: number;
  state: 'serving' | 'draining' | 'loading';
  /** Since when it has had a request in flight. */
  busySince: number;
  busy: number;
}

/** The worker pool as latencies: least-in-flight routing, and the drain-and-load of either way to synchronise. */
export class VirtualWorkers {
  readonly #options: VirtualWorkersOptions;
  readonly #workers: VirtualWorker[];
  /** Requests that came while no worker served. */
  #waiting: { lane: number; work: number }[] = [];
  /** Those that serve, by how much they have in flight and then by their number. */
  readonly #serving: Agenda;
  #target = 0;
  #loading = 0;
  /** The version that all of them have. */
  version = 0;

  constructor(options: VirtualWorkersOptions) {
    this.#options = options;
    const slowdown = slowdownOf(options.slowdown);
    this.#workers = Array.from({ length: options.count }, () => ({
      server: new BatchServer(slowdown),
      version: 0,
      state: 'serving',
      busySince: 0,
      busy: 0,
    }));
    this.#serving = new Agenda(options.count);
    for (let index = 0; index < options.count; index++) this.#rank(index);
  }

  ask(lane: number, work: number, now: number): void {
    const index = this.#serving.first;
    if (index < 0) {
      this.#waiting.push({ lane, work });
      return;
    }
    const worker = this.#workers[index]!;
    if (worker.server.inFlight === 0) worker.busySince = now;
    worker.server.admit(now, work, lane);
    this.#rank(index);
    this.#options.setMoment(index, worker.server.nextAt);
  }

  /** The moment that was set for this worker has come: a reply is finished, or a version loaded. */
  due(index: number, now: number): void {
    const worker = this.#workers[index]!;
    if (worker.state === 'loading') {
      this.#options.setMoment(index, Number.POSITIVE_INFINITY);
      this.#loaded(now);
      return;
    }
    const lane = worker.server.finish(now);
    this.#rank(index);
    this.#options.setMoment(index, worker.server.nextAt);
    if (worker.server.inFlight === 0) {
      worker.busy += now - worker.busySince;
      if (worker.state === 'draining') this.#drained(now);
    }
    this.#options.onReply(lane, worker.version, now);
  }

  /** A newer version is there; while one is being loaded it waits for its turn. */
  sync(version: number, now: number): void {
    const idle = this.version === this.#target;
    this.#target = version;
    if (idle) this.#beginSync(now);
  }

  busySeconds(now: number): number {
    return this.#workers.reduce(
      (sum, { busy, busySince, server }) => sum + busy + (server.inFlight > 0 ? now - busySince : 0),
      0,
    );
  }

  /** Least in flight comes first; among equals the first one, as in the worker pool. */
  #rank(index: number): void {
    const { state, server } = this.#workers[index]!;
    const rank = server.inFlight + index / this.#workers.length;
    this.#serving.set(index, state === 'serving' ? rank : Number.POSITIVE_INFINITY);
  }

  #to(worker: VirtualWorker, state: VirtualWorker['state']): void {
    worker.state = state;
    this.#rank(this.#workers.indexOf(worker));
  }

  #beginSync(now: number): void {
    const outdated = this.#workers.filter(({ version }) => version < this.#target);
    for (const worker of this.#options.sync === 'one' ? outdated.slice(0, 1) : outdated) this.#to(worker, 'draining');
    this.#drained(now);
  }

  /** Loads what has drained: one worker as soon as it has, all of them when all have. */
  #drained(now: number): void {
    const draining = this.#workers.filter(({ state }) => state === 'draining');
    if (draining.some(({ server }) => server.inFlight > 0)) return;
    this.#loading = draining.length;
    for (const worker of draining) {
      this.#to(worker, 'loading');
      worker.version = this.#target;
      const index = this.#workers.indexOf(worker);
      this.#options.setMoment(index, now + this.#options.load(this.#target, index));
    }
  }

  #loaded(now: number): void {
    this.#loading -= 1;
    if (this.#loading > 0) return;
    // Together: nobody serves before the last one has it.
    for (const one of this.#workers) if (one.state === 'loading') this.#to(one, 'serving');
    this.version = this.#workers.reduce((oldest, { version }) => Math.min(oldest, version), this.#target);
    this.#resume(now);
    if (this.version < this.#target) this.#beginSync(now);
    else this.#options.onLoaded(this.#target);
  }

  #resume(now: number): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { lane, work } of waiting) this.ask(lane, work, now);
  }
}
