import { DartError, messageOf } from '../errors.ts';
import { isGone, KeptInFile } from '../store/index.ts';
import { AnySignal } from '../stream/any_signal.ts';
import { wellFormedJson } from '../stream/finite.ts';
import type { Trajectory } from '../stream/records.ts';
import { ringEvery } from '../stream/timer.ts';
import { Outlet } from './outlet.ts';
import { openPolicies } from './policies.ts';
import { runRollouts } from './rollouts.ts';
import type { Scheduler } from './scheduler.ts';
import { SessionNews } from './session_news.ts';
import type { SessionEnd, SessionOptions } from './session_options.ts';
import { SessionVersions } from './session_versions.ts';
import type { SessionStatus } from './status.ts';
import { StoreLink } from './store_link.ts';
import { Tally } from './tally.ts';
import { TaskProgress } from './task_progress.ts';
import { Usage } from './usage.ts';
import type { VersionSource } from './versions.ts';
import { schedulerOf } from './work_plan.ts';
import { WorkerPool } from './worker_pool.ts';
import { writable } from './writable.ts';

export type { SessionEnd, SessionNotes, SessionOptions } from './session_options.ts';

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
    try {
      await workers?.close();
    } finally {
      await link?.close();
    }
  }
}

class Session {
  readonly workers: WorkerPool;
  readonly #options: SessionOptions;
  readonly #link: StoreLink | null;
  readonly #versions: SessionVersions;
  readonly #news: SessionNews;
  readonly #progress: TaskProgress;
  readonly #tally = new Tally();
  readonly #usage: Usage;
  readonly #outlet: Outlet<Trajectory>;
  /** What is under way is given up: the run is stopped, or fails. */
  readonly #giveUp = new AbortController();
  /** Why it fails. */
  #broken: DartError | null = null;
  #syncs = 0;

  constructor(
    options: SessionOptions,
    link: StoreLink | null,
    policies: ConstructorParameters<typeof WorkerPool>[0],
    versions: VersionSource | null,
  ) {
    this.#options = options;
    this.#link = link;
    this.#news = new SessionNews(options.notes);
    // Workers that are down from the beginning are told of before there is anything to measure.
    let usage: Usage | null = null;
    this.workers = new WorkerPool(policies, {
      patienceMs: options.servers?.patienceMs,
      whenNoneLeft: options.whenNoneLeft,
      onFailure: (worker, error, out, mayReturn) => {
        if (out) this.#news.workerDown(worker, error, mayReturn);
      },
      onBack: (worker) => options.notes.warn(`policy worker ${worker} is back`),
      onSync: (sync) => {
        link?.noteSync(sync);
        if (!this.#versions.ends(sync) && this.#news.sync(sync)) this.#syncs += 1;
      },
      onBusy: (change, worker) => this.#usage.worker(change, worker),
      onState: (worker, state, version) => {
        link?.noteWorker(worker, this.workers.name, state, version);
        usage?.workersChanged();
      },
    });
    this.#versions = new SessionVersions(options, versions ?? link, this.workers, link);
    this.#progress = new TaskProgress(options.successWindow, link);
    usage = new Usage({
      desktops: () => options.environments.size,
      desktopIds: () => options.environments.ids,
      workers: () => this.workers.workers,
    });
    this.#usage = usage;
    this.#outlet = new Outlet(
      (batch) =>
        this.#deliver(batch).catch((error: unknown) => {
          this.#news.willBeTold(error);
          throw error;
        }),
      (rest) => this.#rescue(rest),
    );
  }

  async run(): Promise<SessionEnd> {
    const { options, workers } = { options: this.#options, workers: this.workers };
    await this.#link?.begin(options.tasks, options.config ?? null);
    for (const { id, state, version } of workers.workers) this.#link?.noteWorker(id, workers.name, state, version);
    await this.#versions.toNewestWhole();
    const over = new AbortController();
    const ending = new AnySignal([over.signal, options.stopping.stop]);
    const following = this.#versions.follow(ending.signal);
    const { usage, status } = options.notes;
    status?.(() => this.#status());
    const reading = usage && ringEvery(usage.everyMs, () => usage.take(this.#usage.read()));
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
      // What has ended is not lost by it.
      await this.#outlet.flush().catch((second: unknown) => {
        if (!isToldElsewhere(second) && messageOf(second) !== messageOf(error)) options.notes.warn(messageOf(second));
      });
      options.notes.failed?.(this.#end());
      throw error;
    } finally {
      reading?.stop();
      options.stopping.abort.removeEventListener('abort', giveUp);
      over.abort();
      ending.release();
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
    const { sampling, seed, onParseError, failAtLimit, blobs } = this.#options;
    const { assetsDir, assetCache, bridge, fidelity } = this.#options;
    const keep = (png: Uint8Array) => blobs.putSync(png);
    return { sampling, seed, onParseError, failAtLimit, assetsDir, assetCache, bridge, fidelity, keep };
  }

  #scheduler(): Scheduler {
    const link = this.#link;
    return schedulerOf(this.#options, {
      progress: this.#progress,
      desktops: this.#options.environments.size,
      between: async (groups) => {
        await this.#outlet.flush();
        await this.#versions.betweenBatches(groups);
      },
      share: link ? (groups) => link.sharing(groups) : undefined,
    });
  }

  async #deliver(batch: Trajectory[]): Promise<void> {
    // One text for both.
    const json = this.#link && new Map(batch.map((trajectory) => [trajectory, wellFormedJson(trajectory)]));
    await this.#link?.keep(batch, json ?? undefined);
    for (const trajectory of batch) {
      await this.#options.write(trajectory, json?.get(trajectory));
      this.#tally.add(trajectory);
      this.#news.trajectory(trajectory);
    }
    this.#options.notes.progress(this.#tally, this.workers.version);
  }

  /** What has ended while a delivery failed goes into the store all the same, or where the store puts it instead. */
  async #rescue(rest: Trajectory[]): Promise<void> {
    await this.#link?.keep(rest).catch((error: unknown) => {
      if (!isToldElsewhere(error)) this.#news.error(error);
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
}

/** Of files the link tells when it is closed, and of a store that is gone whoever met it first. */
function isToldElsewhere(error: unknown): boolean {
  return error instanceof KeptInFile || isGone(error);
}
