import { setMaxListeners } from 'node:events';
import { DartError } from '../errors.ts';
import type { Env } from '../stream/records.ts';
import { Boots } from './boots.ts';
import { CannotStart, DesktopUsedUp, type Driver, type Environment } from './environment.ts';
import { FreePlaces } from './free_places.ts';
import { lookAt } from './health.ts';
import { type LastFailure, noneLeft } from './none_left.ts';
import { Place } from './place.ts';
import { type FailureReason, noCounts, type PoolCounts } from './pool_counts.ts';
import { POOL_DEFAULTS, type PoolOptions, type Release } from './pool_options.ts';

export type { DesktopFailure, PoolOptions, Release } from './pool_options.ts';

/**
 * Desktops to be leased one at a time. One that fails, or that is good for one rollout only, is replaced in its place
 * while the others go on; a place that keeps failing is retired; when none is left every lease rejects with a DartError
 * that says what is missing.
 */
export class EnvironmentPool {
  readonly #places: Place[] = [];
  readonly #leased = new Map<Environment, Place>();
  readonly #free: FreePlaces;
  readonly #options: PoolOptions & typeof POOL_DEFAULTS;
  readonly #boots: Boots;
  readonly #closing = new AbortController();
  readonly #counts = noCounts();
  readonly #names: string[] = [];
  readonly #rounds: NodeJS.Timeout;
  #ids: readonly string[] | null = null;
  #last: LastFailure | null = null;
  #watcher: (desktop: Env) => void = () => {};
  #grown: (places: number) => void = () => {};
  #retired: () => void = () => {};

  /** Begins to start all desktops of the drivers; leases are served as they become ready. */
  constructor(drivers: readonly Driver[], options: PoolOptions = {}) {
    this.#options = { ...POOL_DEFAULTS, ...options };
    // Every desktop may wait for its start at the same time.
    setMaxListeners(0, this.#closing.signal);
    this.#free = new FreePlaces(this.#options.leases);
    this.#boots = new Boots(options.starts ?? Number.POSITIVE_INFINITY, this.#options.retryMs, this.#closing.signal);
    for (const driver of drivers) this.add(driver);
    this.#rounds = setInterval(() => this.checkIdle(), this.#options.healthMs);
    this.#rounds.unref();
  }

  /** Desktops that can be leased at once: those that are not retired, without the spares. */
  get size(): number {
    const running = this.#places.filter((place) => !place.retired).length;
    return Math.min(running, this.#options.leases ?? running);
  }

  /** Names of the desktops that run: the same array until one comes or goes. */
  get ids(): readonly string[] {
    this.#ids ??= this.#places.flatMap(({ environment }) => environment?.id ?? []);
    return this.#ids;
  }

  /** Failures so far, of all desktops. */
  get failures(): number {
    return Object.values(this.#counts.failures).reduce((sum, count) => sum + count, 0);
  }

  /** Nobody gets a desktop any more. */
  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** What has happened so far. */
  get counts(): PoolCounts {
    return { ...this.#counts, failures: { ...this.#counts.failures } };
  }

  /** Starts further desktops. */
  add(driver: Driver): void {
    this.#names.push(`${driver.name}:${driver.capacity}`);
    const places = Array.from({ length: driver.capacity }, (_, i) => new Place(driver, i, this.#options.name));
    this.#places.push(...places);
    for (const place of places) this.#start(place);
    this.#grown(places.length);
  }

  /** Tells `grown` of places that are added from now on. */
  onGrowth(grown: (places: number) => void): void {
    this.#grown = grown;
  }

  /** Calls `retired` after each place that is given up from now on. */
  onRetirement(retired: () => void): void {
    this.#retired = retired;
  }

  /** A desktop that has gone for good, as others say: nobody gets it any more. */
  retire(envId: string): void {
    const place = this.#places.find(({ environment }) => environment?.id === envId);
    if (!place || place.retired) return;
    const idle = this.#free.withdraw(place);
    this.#retire(place);
    // One that somebody has goes when it is given back.
    if (!idle) return;
    this.#tell(place, 'stopped');
    this.#boots.track(this.#vacate(place));
  }

  /**
   * Tells `watcher` of each desktop that runs, and from then on of each that becomes ready, fails, or stops. Leases are
   * not told: they change with every rollout.
   */
  watch(watcher: (desktop: Env) => void): void {
    this.#watcher = watcher;
    for (const place of this.#places) this.#tell(place, 'ready');
  }

  /** A desktop for the caller alone, as soon as one is free; first come, first served. */
  async lease(signal?: AbortSignal): Promise<Environment> {
    for (let first = false; ; first = true) {
      const place = await this.#take(first, signal);
      if (performance.now() - place.seenMs < this.#options.freshMs || (await this.#isWell(place))) {
        if (!signal?.aborted && !this.#closing.signal.aborted) return this.#hand(place);
        this.#giveBack(place);
        throw signal?.aborted ? signal.reason : this.#closing.signal.reason;
      }
    }
  }

  /** Gives a desktop back. Releasing twice is harmless. */
  release(env: Environment, outcome: Release = {}): void {
    const place = this.#leased.get(env);
    if (!place) return;
    this.#leased.delete(env);
    if (outcome.failed !== undefined) {
      this.#failed(place, outcome.duringSetup ? 'setup' : 'rollout', outcome.failed);
      return;
    }
    place.succeeded();
    this.#giveBack(place, outcome.spent);
  }

  /** How long the start of a leased desktop took, ms. */
  bootMs(env: Environment): number {
    return this.#leased.get(env)?.bootMs ?? 0;
  }

  /** Looks at every desktop that nobody has; one that does not answer is replaced. */
  checkIdle(): void {
    for (const place of this.#free.withdrawUnseen(performance.now() - this.#options.healthMs)) {
      this.#boots.track(this.#isWell(place).then((well) => well && this.#free.offer(place)));
    }
  }

  /** Closes every desktop, leased or not. */
  async close(): Promise<void> {
    await this.abandon();
    for (const place of this.#places) if (!place.environment?.serverUrl) this.#tell(place, 'stopped');
    const closed = this.#places.map((place) => place.vacate()?.close());
    this.#ids = null;
    await Promise.all(closed);
  }

  /** Ends all leasing and looking after, and leaves the desktops as they are. */
  async abandon(): Promise<void> {
    clearInterval(this.#rounds);
    this.#closing.abort(new DartError('the desktops are being closed'));
    this.#free.disappoint(this.#closing.signal.reason);
    await this.#boots.settled();
  }

  #take(first: boolean, signal?: AbortSignal): Promise<Place> {
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    if (this.size === 0) throw this.#noneLeft();
    return this.#free.take(first, signal);
  }

  #giveBack(place: Place, spent = place.spent): void {
    this.#free.drop(place);
    if (!spent && !place.retired) this.#free.offer(place);
    else {
      this.#tell(place, 'stopped');
      this.#renew(place);
      this.#free.serve();
    }
  }

  /** False for one that does not answer; it is replaced then. */
  async #isWell(place: Place): Promise<boolean> {
    try {
      await lookAt(place.environment!);
      place.seenMs = performance.now();
      return true;
    } catch (error) {
      this.#failed(place, 'idle', error);
      return false;
    }
  }

  #vacate(place: Place): Promise<void> {
    const closed = this.#boots.close(place);
    this.#ids = null;
    return closed;
  }

  /** Closes what stands in a place, and starts another one there unless it is retired. */
  #renew(place: Place): void {
    const closed = this.#vacate(place);
    this.#boots.track(closed);
    if (!place.retired) void closed.then(() => this.#start(place));
  }

  #start(place: Place): void {
    if (this.#closing.signal.aborted) return;
    this.#boots.track(this.#boot(place));
  }

  async #boot(place: Place): Promise<void> {
    try {
      await this.#boots.start(place);
    } catch (error) {
      if (!(error instanceof DesktopUsedUp)) return this.#failed(place, 'boot', error);
      this.#last = { error, reason: null };
      return this.#retire(place);
    }
    this.#ids = null;
    this.#counts.booted += 1;
    if (place.again) this.#counts.replaced += 1;
    this.#tell(place, 'ready');
    if (!this.closed) this.#free.offer(place);
  }

  #failed(place: Place, reason: FailureReason, error: unknown): void {
    const envId = place.environment?.id ?? place.id;
    this.#free.drop(place);
    if (this.#closing.signal.aborted) return;
    this.#counts.failures[reason] += 1;
    this.#last = { error, reason };
    const { retired } = place;
    // One that follows another may only be too early: its port or memory may be given back in a moment.
    const hopeless = error instanceof CannotStart && !place.again;
    if (reason === 'setup') place.failedToSetUp(this.#options.maxFailedSetups);
    else place.failed(hopeless ? 1 : this.#options.maxFailures);
    if (place.retired && !retired) this.#counts.retired += 1;
    this.#tell(place, 'failed');
    this.#options.onFailure?.({ env_id: envId, error, reason, retired: place.retired });
    this.#renew(place);
    this.#tellNoneLeft();
    if (place.retired && !retired) this.#retired();
  }

  #retire(place: Place): void {
    place.retired = true;
    this.#counts.retired += 1;
    this.#tellNoneLeft();
    this.#retired();
  }

  #tellNoneLeft(): void {
    if (this.size === 0) this.#free.disappoint(this.#noneLeft());
    else this.#free.serve();
  }

  #tell(place: Place, state: Env['state']): void {
    const desktop = place.record(state);
    if (desktop) this.#watcher(desktop);
  }

  #hand(place: Place): Environment {
    const lease = place.lease();
    this.#leased.set(lease, place);
    return lease;
  }

  #noneLeft(): DartError {
    return noneLeft(this.#names, this.#last, this.#options.maxFailedSetups);
  }
}
