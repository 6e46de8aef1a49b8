import { DartError, messageOf } from '../errors.ts';
import type { Env } from '../stream/records.ts';
import type { Driver, Environment } from './environment.ts';
import { Place } from './place.ts';

export interface PoolOptions {
  /** Begins the ids of the desktops, in place of the name of their driver. */
  name?: string;
  /** How many are leased at once at most; the others are spares. */
  leases?: number;
  /** How many start at once. */
  starts?: number;
  /** After so many failures in a row a desktop is not replaced any more. */
  maxFailures?: number;
  /** Told of each failure: a failed desktop, or one that could not be started. */
  onFailure?: (failure: DesktopFailure) => void;
}

export interface DesktopFailure {
  env_id: string;
  error: unknown;
  /** True when this was the last straw. */
  retired: boolean;
}

export interface Release {
  /** What went wrong with the desktop, if anything: it is replaced before it is leased again. */
  failed?: unknown;
  /** A task whose own set-up may be to blame. Failures that all come from one such task retire nothing. */
  task?: string;
}

interface Waiter {
  resolve: (env: Environment) => void;
  reject: (error: unknown) => void;
}

const DEFAULT_MAX_FAILURES = 3;

/**
 * Desktops to be leased one at a time. One that fails is replaced by a new one in its place; a place that keeps
 * failing is retired; when none is left every lease rejects with a DartError that says what is missing.
 */
export class EnvironmentPool {
  readonly #places: Place[];
  readonly #idle: Place[] = [];
  readonly #leased = new Map<Environment, Place>();
  readonly #waiters: Waiter[] = [];
  readonly #options: PoolOptions;
  readonly #names: string;
  readonly #starting = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #failures = 0;
  #lastError: unknown = null;
  #watcher: (desktop: Env) => void = () => {};

  /** Begins to start all desktops of the drivers; leases are served as they become ready. */
  constructor(drivers: readonly Driver[], options: PoolOptions = {}) {
    this.#options = options;
    this.#names = drivers.map((driver) => `${driver.name}:${driver.capacity}`).join(', ');
    this.#places = drivers.flatMap((driver) =>
      Array.from({ length: driver.capacity }, (_, index) => new Place(driver, index)),
    );
    for (const place of this.#places) this.#start(place);
  }

  /** Desktops that are not retired. */
  get size(): number {
    return this.#places.filter((place) => !place.retired).length;
  }

  /** Names of the desktops that run. */
  get ids(): string[] {
    return this.#places.flatMap(({ environment }) => environment?.id ?? []);
  }

  /** Failures so far, of all desktops. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Tells `watcher` of each desktop that runs, and from then on of each that becomes ready, fails, or stops at the end.
   * Leases are not told: they change with every rollout.
   */
  watch(watcher: (desktop: Env) => void): void {
    this.#watcher = watcher;
    for (const place of this.#places) this.#tell(place, 'ready');
  }

  /** A desktop for the caller alone, as soon as one is free; first come, first served. */
  async lease(signal?: AbortSignal): Promise<Environment> {
    signal?.throwIfAborted();
    const idle = this.#idle.shift();
    if (idle) return this.#hand(idle);
    if (this.size === 0) throw this.#noneLeft();
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal!.reason);
      };
      const settle = () => signal?.removeEventListener('abort', stop);
      const waiter: Waiter = {
        resolve: (env) => {
          settle();
          resolve(env);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#waiters.push(waiter);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  /** Gives a desktop back. Releasing twice is harmless. */
  release(env: Environment, outcome: Release = {}): void {
    const place = this.#leased.get(env);
    if (!place) return;
    this.#leased.delete(env);
    if (outcome.failed === undefined) {
      place.succeeded();
      this.#offer(place);
      return;
    }
    this.#tell(place, 'failed');
    place.replace();
    this.#failed(place, env.id, outcome.failed, outcome.task);
    // A desktop that failed may also fail to close; it is out of the pool either way.
    void env.close().catch(() => {});
  }

  /** Closes every desktop, leased or not. */
  async close(): Promise<void> {
    this.#closing.abort(new DartError('the desktops are being closed'));
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#closing.signal.reason);
    await Promise.all(this.#starting);
    for (const place of this.#places) if (!place.environment?.serverUrl) this.#tell(place, 'stopped');
    await Promise.all(this.#places.map((place) => place.close()));
  }

  #start(place: Place): void {
    const started = place.start(this.#closing.signal).then(
      () => {
        this.#tell(place, 'ready');
        if (!this.#closing.signal.aborted) this.#offer(place);
      },
      (error: unknown) => this.#failed(place, place.id, error),
    );
    this.#starting.add(started);
    void started.finally(() => this.#starting.delete(started));
  }

  #failed(place: Place, envId: string, error: unknown, task?: string): void {
    if (this.#closing.signal.aborted) return;
    this.#failures += 1;
    this.#lastError = error;
    place.failed(task, this.#options.maxFailures ?? DEFAULT_MAX_FAILURES);
    this.#options.onFailure?.({ env_id: envId, error, retired: place.retired });
    if (!place.retired) {
      this.#start(place);
      return;
    }
    if (this.size === 0) for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#noneLeft());
  }

  #tell(place: Place, state: Env['state']): void {
    const desktop = place.record(state);
    if (desktop) this.#watcher(desktop);
  }

  #offer(place: Place): void {
    const waiter = this.#waiters.shift();
    if (waiter) waiter.resolve(this.#hand(place));
    else this.#idle.push(place);
  }

  #hand(place: Place): Environment {
    const env = place.environment!;
    // A new object for each lease, so that releasing an old one twice cannot give back somebody else's.
    const { id, driver, guest, waits, serverUrl } = env;
    const lease = { id, driver, guest, waits, serverUrl, reset: env.reset.bind(env), close: env.close.bind(env) };
    this.#leased.set(lease, place);
    return lease;
  }

  #noneLeft(): DartError {
    const why = this.#lastError === null ? 'there is none' : `the last one failed: ${messageOf(this.#lastError)}`;
    return new DartError(`no desktop is left; ${why}`, {
      where: this.#names || '--env',
      hint: 'other desktops with --env, such as embedded:4',
    });
  }
}
