import { DamagedFile } from '../policy/network/published.ts';
import { awaitCoupling } from './coupling.ts';
import type { Group } from './planner.ts';
import type { SessionOptions } from './session_options.ts';
import type { StoreLink } from './store_link.ts';
import { followVersions, type VersionSource } from './versions.ts';
import type { WorkerPool, WorkerSync } from './worker_pool.ts';

/** Keeps the workers of a session at the newest version, in each of the ways that it can be told to. */
export class SessionVersions {
  readonly #options: SessionOptions;
  readonly #source: VersionSource | null;
  readonly #workers: WorkerPool;
  readonly #link: StoreLink | null;
  #toldOfBatches = false;
  #begun = false;
  /** Why the version to begin with was refused. */
  #damage: DamagedFile | null = null;

  /** @param source where newer versions are announced; null: nowhere. */
  constructor(options: SessionOptions, source: VersionSource | null, workers: WorkerPool, link: StoreLink | null) {
    this.#options = options;
    this.#source = options.sync === 'off' || !workers.canLoad ? null : source;
    this.#workers = workers;
    this.#link = link;
  }

  /** In asynchronous mode, and only with `follow`: newer versions as they come, until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { follow, mode, syncIntervalMs, notes } = this.#options;
    if (!this.#source || !follow || mode === 'batch') return;
    await followVersions(this.#source, {
      intervalMs: syncIntervalMs,
      current: () => this.#workers.oldestVersion,
      sync: (version, path) => this.#sync(version, path),
      onError: (message) => notes.warn(`no news of versions: ${message}`),
      signal,
    });
  }

  /**
   * Hears how a worker got on with a version.
   * @returns whether the session ends by it: until it has begun, `toNewestWhole` throws what is damaged.
   */
  ends({ cause }: WorkerSync): boolean {
    if (this.#begun || !(cause instanceof DamagedFile)) return false;
    this.#damage = cause;
    return true;
  }

  /**
   * At the start: the newest version, or where that cannot be loaded the one before it that can.
   * @throws DamagedFile where it has other bytes than were written: rollouts of an older one may be of no use.
   */
  async toNewestWhole(): Promise<void> {
    await this.#toNewest();
    this.#begun = true;
  }

  async #toNewest(): Promise<void> {
    let next = (await this.#source?.latest()) ?? null;
    while (next && next.version > this.#workers.oldestVersion) {
      await this.#sync(next.version, next.path);
      if (this.#damage) throw this.#damage;
      if (this.#workers.oldestVersion >= next.version) return;
      const damaged = next.version;
      next = (await this.#source?.before?.(damaged)) ?? null;
      const instead = next ? next.version : this.#workers.oldestVersion;
      this.#options.notes.warn(`version ${damaged} cannot be loaded; version ${instead} is taken instead`);
    }
  }

  /** The coupled baseline: nothing runs until the version learned from the whole last batch is there. */
  async betweenBatches(groups: readonly Group[]): Promise<void> {
    const { versionWaitMs, syncIntervalMs, notes, stopping, follow } = this.#options;
    if (!this.#source || !follow) return;
    const { version: before } = this.#workers;
    notes.info(`batch done; waiting for a version above ${before}`);
    const link = this.#link;
    const end = await awaitCoupling(groups, {
      waitMs: versionWaitMs,
      intervalMs: Math.min(syncIntervalMs, 200),
      toLatest: () => this.#toLatest(),
      settled: link && ((ids) => link.settled(ids)),
      stop: stopping.stop,
    });
    if (end.state !== 'late') return;
    const goesOn = `the next batch goes on with ${this.#workers.version}`;
    const late = `within ${versionWaitMs / 1000} s`;
    if (!end.newer) notes.warn(`no newer version ${late}; ${goesOn}`);
    else notes.warn(`not strictly coupled: ${end.unsettled} groups of the batch not learned from ${late}; ${goesOn}`);
    this.#tellOfBatches();
  }

  async #toLatest(): Promise<boolean> {
    const latest = await this.#source?.latest();
    if (!latest || latest.version <= this.#workers.oldestVersion) return false;
    await this.#sync(latest.version, latest.path);
    return true;
  }

  #sync(version: number, path: string): Promise<void> {
    if (this.#options.sync === 'global') return this.#workers.syncTogether(version, path);
    return this.#workers.syncOneByOne(version, path);
  }

  /** The likeliest reason, once: a trainer that waits for more groups than a batch gives it waits for ever. */
  #tellOfBatches(): void {
    if (this.#toldOfBatches) return;
    this.#toldOfBatches = true;
    this.#options.notes.warn(
      `a batch has ${this.#options.batchGroups} groups. Try: dart-train --batch-groups ${this.#options.batchGroups}, and dart-curate --keep-constant, so that all of them arrive`,
    );
  }
}
