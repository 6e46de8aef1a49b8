import type { EnvironmentPool } from '../environment/pool.ts';
import { DartError, messageOf } from '../errors.ts';
import { isGone, KeptInFile, type Store } from '../store/index.ts';
import type { BlobStore } from '../stream/blobs.ts';
import type { Sampling, Trajectory } from '../stream/records.ts';
import { awaitCoupling } from './coupling.ts';
import type { EpisodeOptions } from './episode.ts';
import type { RolloutServers } from './open_servers.ts';
import { Outlet } from './outlet.ts';
import type { Group } from './planner.ts';
import { openPolicies } from './policies.ts';
import { runRollouts } from './rollouts.ts';
import type { Scheduler } from './scheduler.ts';
import type { SessionStatus } from './status.ts';
import type { Stopping } from './stopping.ts';
import { StoreLink } from './store_link.ts';
import { Tally } from './tally.ts';
import { TaskProgress } from './task_progress.ts';
import { Usage, type UsageReading } from './usage.ts';
import type { PartUsage } from './utilisation.ts';
import { followVersions, type VersionSource } from './versions.ts';
import { schedulerOf, type WorkPlan } from './work_plan.ts';
import { WorkerPool, type WorkerSync } from './worker_pool.ts';
import { writable } from './writable.ts';

export interface SessionOptions extends WorkPlan {
  environments: EnvironmentPool;
  /** A policy specification, and as how many workers to open it. */
  policy: string;
  workers: number;
  threads?: number;
  /** For policies behind servers. */
  servers?: RolloutServers;
  /** The first rollout that ends in an error ends the run, instead of being recorded and counted. */
  failFast?: boolean;
  /** How long a batch waits for the version learned from the last one, before it goes on with the old. */
  versionWaitMs: number;
  /** Workers change versions one at a time, all together, or never. */
  sync: 'one' | 'global' | 'off';
  syncIntervalMs: number;
  successWindow: number;
  sampling: Sampling;
  onParseError: 'observe' | 'fail';
  failAtLimit: boolean;
  assetsDir?: string | null;
  assetCache?: EpisodeOptions['assetCache'];
  fidelity?: EpisodeOptions['fidelity'];
  /** Null: screenshots are named by their hash but kept nowhere. */
  blobs: Pick<BlobStore, 'putSync'>;
  store: Store | null;
  /** Kept with the run in the store. */
  config?: unknown;
  /** Takes each trajectory, in order, after the store has it. */
  write: (trajectory: Trajectory) => Promise<void>;
  notes: SessionNotes;
  stopping: Stopping;
}

/** What a session tells while it runs. */
export interface SessionNotes {
  /** @param kind of what there may be thousands of: what they are called together. */
  warn(message: string, kind?: string): void;
  info(message: string): void;
  progress(tally: Tally, version: number): void;
  /** What is used of desktops and workers, every so many ms; not asked for: never. */
  usage?: { everyMs: number; take: (reading: UsageReading) => void };
  /** Told once, when the run begins, how to look at where it stands. */
  status?: (read: () => SessionStatus) => void;
  /** The run is going to fail, and this is what came of it until then: what has ended is written. */
  failed?: (end: SessionEnd) => void;
}

export interface SessionEnd {
  tally: Tally;
  policy: string;
  version: number;
  syncs: number;
  usage: UsageReading;
  /** Of each desktop and each worker. */
  desktops: PartUsage[];
  workers: PartUsage[];
}

/**
 * A whole run of rollouts: opens the policy, plans, runs, stores and writes, and follows new versions meanwhile.
 * The caller opens and closes desktops and store.
 * @throws when no desktop or policy worker is left, when a policy cannot be opened, when the store or `write` fails.
 */
export async function runSession(options: SessionOptions): Promise<SessionEnd> {
  const { notes, store } = options;
  const link =
    store && new StoreLink(store, { runId: options.runId, window: options.successWindow, onError: notes.warn });
  let workers: WorkerPool | null = null;
  try {
    const servers = { warn: notes.warn, log: notes.info, ...options.servers };
    const opened = await openPolicies(options.policy, options.workers, options.threads, servers);
    const running = new Session(options, link, opened.policies, opened.versions);
    workers = running.workers;
    return await running.run();
  } finally {
    await workers?.close();
    await link?.close();
  }
}

const AGAIN_WITH_STORE = 'start the servers again, and this run with the same --store and --run-id';
const AGAIN =
  'start the servers again, and the run; with --store URL and the same --run-id it would go on where it ended';

class Session {
  readonly workers: WorkerPool;
  readonly #options: SessionOptions;
  readonly #link: StoreLink | null;
  readonly #versions: VersionSource | null;
  readonly #progress: TaskProgress;
  readonly #tally = new Tally();
  readonly #usage: Usage;
  readonly #outlet: Outlet<Trajectory>;
  /** What is under way is given up: the run is stopped, or fails. */
  readonly #giveUp = new AbortController();
  /** Why it fails. */
  #broken: DartError | null = null;
  #syncs = 0;
  /** Kinds of errors, failures, and versions that could not be loaded, that were told already or will be. */
  readonly #told = new Set<string>();

  constructor(
    options: SessionOptions,
    link: StoreLink | null,
    policies: ConstructorParameters<typeof WorkerPool>[0],
    versions: VersionSource | null,
  ) {
    this.#options = options;
    this.#link = link;
    // Workers that are down from the beginning are told of before there is anything to measure.
    let usage: Usage | null = null;
    this.workers = new WorkerPool(policies, {
      patienceMs: options.servers?.patienceMs,
      whenNoneLeft: options.store ? AGAIN_WITH_STORE : AGAIN,
      onFailure: (worker, error, out, mayReturn) => {
        const fate = mayReturn ? 'is down, and gets no requests until it is back' : 'failed too often and is out';
        if (out) options.notes.warn(`policy worker ${worker} ${fate}: ${messageOf(error)}`);
      },
      onBack: (worker) => options.notes.warn(`policy worker ${worker} is back`),
      onSync: (sync) => this.#synced(sync),
      onBusy: (change, worker) => this.#usage.worker(change, worker),
      onState: (worker, state, version) => {
        link?.noteWorker(worker, this.workers.name, state, version);
        usage?.workersChanged();
      },
    });
    const watched = versions ?? link;
    this.#versions = options.sync === 'off' || !this.workers.canLoad ? null : watched;
    const ids = options.tasks.map((task) => task.task_id);
    this.#progress = new TaskProgress(ids, options.successWindow, link);
    usage = new Usage({
      desktops: () => options.environments.size,
      desktopIds: () => options.environments.ids,
      workers: () => this.workers.workers,
    });
    this.#usage = usage;
    this.#outlet = new Outlet(
      (batch) =>
        this.#deliver(batch).catch((error: unknown) => {
          this.#told.add(messageOf(error));
          throw error;
        }),
      (rest) => this.#rescue(rest),
    );
  }

  async run(): Promise<SessionEnd> {
    const { options, workers } = { options: this.#options, workers: this.workers };
    await this.#link?.begin(options.tasks, options.config ?? null);
    for (const { id, state, version } of workers.workers) this.#link?.noteWorker(id, workers.name, state, version);
    await this.#toNewestWhole();
    const over = new AbortController();
    const following = this.#follow(AbortSignal.any([over.signal, options.stopping.stop]));
    const { usage, status } = options.notes;
    status?.(() => this.#status());
    const reading = usage && setInterval(() => usage.take(this.#usage.read()), usage.everyMs);
    const giveUp = () => this.#giveUp.abort(options.stopping.abort.reason);
    if (options.stopping.abort.aborted) giveUp();
    else options.stopping.abort.addEventListener('abort', giveUp, { once: true });
    try {
      await runRollouts({
        runId: options.runId,
        scheduler: this.#scheduler(),
        environments: options.environments,
        workers,
        usage: this.#usage,
        episode: this.#episode(),
        emit: (ended) => {
          const trajectory = writable(ended);
          // At once, so that the very next group is planned with it.
          this.#progress.observe(trajectory);
          this.#endAtError(trajectory);
          return this.#outlet.put(trajectory);
        },
        onRetry: ({ group }, error) =>
          options.notes.warn(
            `${group.task.task_id}: tried again on another desktop: ${messageOf(error)}`,
            'rollouts tried again',
          ),
        stop: options.stopping.stop,
        abort: this.#giveUp.signal,
      });
      await this.#outlet.flush();
      if (this.#broken) throw this.#broken;
    } catch (error) {
      // What has ended is not lost by it. Its own error was the cause, or came of the same.
      await this.#outlet.flush().catch(() => {});
      options.notes.failed?.(this.#end());
      throw error;
    } finally {
      clearInterval(reading);
      options.stopping.abort.removeEventListener('abort', giveUp);
      over.abort();
      await following;
      for (const { id, version } of workers.workers) this.#link?.noteWorker(id, workers.name, 'stopped', version);
    }
    return this.#end();
  }

  #end(): SessionEnd {
    const { name: policy, version } = this.workers;
    const { usage, parts } = { usage: this.#usage.read(), parts: this.#usage.parts() };
    return { tally: this.#tally, policy, version, syncs: this.#syncs, usage, ...parts };
  }

  #status(): SessionStatus {
    const { environments, runId } = this.#options;
    const { name, version, workers, waiting } = this.workers;
    const { desktops, workers: times } = this.#usage.parts();
    return {
      ...{ run_id: runId, policy: name, version, syncs: this.#syncs, tally: this.#tally, usage: this.#usage.read() },
      ...{ desktops, running: environments.size, waiting, under_way: this.#usage.rollouts },
      ...{ desktopFailures: environments.failures, desktopCounts: environments.counts },
      workers: workers.map((worker) => ({
        held_s: 0,
        busy_s: 0,
        ...times.find(({ id }) => id === worker.id),
        ...worker,
      })),
    };
  }

  #episode() {
    const { sampling, seed, onParseError, failAtLimit, assetsDir, assetCache, fidelity, blobs } = this.#options;
    const keep = (png: Uint8Array) => blobs.putSync(png);
    return { sampling, seed, onParseError, failAtLimit, assetsDir, assetCache, fidelity, keep };
  }

  #scheduler(): Scheduler {
    const link = this.#link;
    return schedulerOf(this.#options, {
      progress: this.#progress,
      desktops: this.#options.environments.size,
      between: (groups) => this.#betweenBatches(groups),
      share: link ? (groups) => link.sharing(groups) : undefined,
    });
  }

  async #deliver(batch: Trajectory[]): Promise<void> {
    await this.#link?.keep(batch);
    for (const trajectory of batch) {
      await this.#options.write(trajectory);
      this.#tally.add(trajectory);
      this.#tellFirst(trajectory);
    }
    this.#options.notes.progress(this.#tally, this.workers.version);
  }

  /**
   * What has ended while a delivery failed goes into the store all the same, or where the store puts it instead. Of files
   * the link tells when it is closed, and of a store that is gone whoever met it first.
   */
  async #rescue(rest: Trajectory[]): Promise<void> {
    await this.#link?.keep(rest).catch((error: unknown) => {
      if (error instanceof KeptInFile || isGone(error) || this.#told.has(messageOf(error))) return;
      this.#told.add(messageOf(error));
      this.#options.notes.warn(messageOf(error));
    });
  }

  /** With `failFast`: what has ended by now is delivered, what is under way is given up. */
  #endAtError({ task_id, outcome, error }: Trajectory): void {
    if (this.#options.failFast !== true || !outcome.endsWith('_error') || this.#broken) return;
    this.#broken = new DartError(`a rollout ended in ${outcome}: ${error}`, {
      where: task_id,
      hint: 'without --fail-fast such rollouts are recorded, counted and left behind',
    });
    this.#giveUp.abort(this.#broken);
  }

  /** The first error of each kind is told: where every rollout ends in it, this is the reason. */
  #tellFirst({ task_id, outcome, error }: Trajectory): void {
    if (error === undefined || error === null || this.#told.has(outcome)) return;
    this.#told.add(outcome);
    const reason = error.startsWith(`${task_id}: `) ? error : `${task_id}: ${error}`;
    this.#options.notes.warn(`first ${outcome}: ${reason}`);
  }

  /** In asynchronous mode, and only with `follow`: newer versions as they come. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { follow, mode, syncIntervalMs, notes } = this.#options;
    if (!this.#versions || !follow || mode === 'batch') return;
    await followVersions(this.#versions, {
      intervalMs: syncIntervalMs,
      current: () => this.workers.oldestVersion,
      sync: (version, path) => this.#sync(version, path),
      onError: (message) => notes.warn(`no news of versions: ${message}`),
      signal,
    });
  }

  async #toLatest(): Promise<boolean> {
    const latest = await this.#versions?.latest();
    if (!latest || latest.version <= this.workers.oldestVersion) return false;
    await this.#sync(latest.version, latest.path);
    return true;
  }

  /** At the start: the newest version, or where that cannot be loaded the one before it that can. */
  async #toNewestWhole(): Promise<void> {
    let next = (await this.#versions?.latest()) ?? null;
    while (next && next.version > this.workers.oldestVersion) {
      await this.#sync(next.version, next.path);
      if (this.workers.oldestVersion >= next.version) return;
      const damaged = next.version;
      next = (await this.#versions?.before?.(damaged)) ?? null;
      const instead = next ? next.version : this.workers.oldestVersion;
      this.#options.notes.warn(`version ${damaged} cannot be loaded; version ${instead} is taken instead`);
    }
  }

  #sync(version: number, path: string): Promise<void> {
    if (this.#options.sync === 'global') return this.workers.syncTogether(version, path);
    return this.workers.syncOneByOne(version, path);
  }

  /** The coupled baseline: nothing runs until the version learned from the whole last batch is there. */
  async #betweenBatches(groups: readonly Group[]): Promise<void> {
    const { versionWaitMs, syncIntervalMs, notes, stopping, follow } = this.#options;
    await this.#outlet.flush();
    if (!this.#versions || !follow) return;
    const { version: before } = this.workers;
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
    const goesOn = `the next batch goes on with ${this.workers.version}`;
    const late = `within ${versionWaitMs / 1000} s`;
    if (!end.newer) notes.warn(`no newer version ${late}; ${goesOn}`);
    else notes.warn(`not strictly coupled: ${end.unsettled} groups of the batch not learned from ${late}; ${goesOn}`);
    this.#tellOfBatches();
  }

  /** The likeliest reason, once: a trainer that waits for more groups than a batch gives it waits for ever. */
  #tellOfBatches(): void {
    if (this.#told.has('batches')) return;
    this.#told.add('batches');
    this.#options.notes.warn(
      `a batch has ${this.#options.batchGroups} groups. Try: dart-train --batch-groups ${this.#options.batchGroups}, and dart-curate --keep-constant, so that all of them arrive`,
    );
  }

  #synced(sync: WorkerSync): void {
    this.#link?.noteSync(sync);
    const change = `${sync.worker_id}: version ${sync.from_version} → ${sync.to_version}`;
    if (sync.error !== undefined) {
      const message = `${change} failed, the old one serves on: ${sync.error}`;
      if (!this.#told.has(message)) this.#options.notes.warn(message);
      this.#told.add(message);
      return;
    }
    this.#syncs += 1;
    this.#options.notes.info(
      `${change} (drained ${Math.round(sync.drain_ms)} ms, loaded ${Math.round(sync.load_ms)} ms)`,
    );
  }
}
