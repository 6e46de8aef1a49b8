import { DartError, messageOf } from '../errors.ts';
import type { Store } from '../store/index.ts';
import { isGone, KeptInFile, newOwner } from '../store/index.ts';
import type { Task, Trajectory } from '../stream/records.ts';
import type { Group } from './planner.ts';
import type { GroupSource } from './scheduler.ts';
import type { Progress, ProgressSource } from './task_progress.ts';
import type { AvailableVersion, VersionSource } from './versions.ts';
import type { WorkerState } from './worker.ts';
import type { WorkerSync } from './worker_pool.ts';

/** A process that died holds its rollouts for this long; one that lives renews four times as often. */
const LEASE_MS = 60_000;
const LIFE_MS = 60_000;

export interface StoreLinkOptions {
  runId: string;
  /** Scored rollouts that success rates are taken over. */
  window: number;
  onError: (message: string) => void;
}

/**
 * What a rollout process shares with others through the store: who does which rollout, what was done, how tasks fare,
 * which version is the newest, and what its workers do.
 */
export class StoreLink implements ProgressSource, VersionSource {
  readonly #store: Store;
  readonly #options: StoreLinkOptions;
  readonly #owner = newOwner();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #workers = new Set<string>();
  #notes: Promise<unknown> = Promise.resolve();
  /** Trajectories that went into files. */
  readonly #kept: KeptInFile[] = [];
  /** Somebody has got the error of a store that is gone. */
  #failed = false;

  constructor(store: Store, options: StoreLinkOptions) {
    this.#store = store;
    this.#options = options;
    this.#timers = [
      setInterval(() => this.#note(() => store.renewLease(this.#owner, LEASE_MS)), LEASE_MS / 4),
      setInterval(() => this.#note(() => store.showLife([...this.#workers])), LIFE_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  async begin(tasks: readonly Task[], config: unknown): Promise<void> {
    await this.#store.registerRun({ run_id: this.#options.runId, command: 'dart-rollout', config });
    await this.#store.upsertTasks(tasks);
  }

  /** The groups of `planner`, each with those members that this process may do, and as large as it was begun. */
  sharing(planner: GroupSource): GroupSource {
    return {
      next: async () => {
        const group = await planner.next();
        return group && this.#begin(group).catch((error: unknown) => this.#fail(error));
      },
    };
  }

  /**
   * Stores trajectories and gives their leases back, in one transaction.
   * @throws why the store could not take them, and in which file they are. What comes to a file afterwards is told by
   *   `close`: it is one outage.
   * @param json Their JSON, as `wellFormedJson` makes it, where it is at hand.
   */
  async keep(trajectories: readonly Trajectory[], json?: ReadonlyMap<Trajectory, string>): Promise<void> {
    try {
      await this.#store.insertTrajectories(trajectories, { doneBy: this.#owner, json });
    } catch (error) {
      if (!(error instanceof KeptInFile)) throw error;
      this.#kept.push(error);
      this.#failed = true;
      if (this.#kept.length > 1) return;
      throw error;
    }
  }

  async read(taskIds: readonly string[]): Promise<Map<string, Progress>> {
    const { window, runId } = this.#options;
    const statistics = await this.#store.taskStatistics(taskIds, window, { run_id: runId });
    return new Map(
      [...statistics].map(([id, task]) => [
        id,
        { successRate: task.success_rate, longestSuccess: task.longest_success },
      ]),
    );
  }

  /** Of these groups those that are learned from, or left out for good. */
  settled(groupIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#store.finishedGroups(groupIds);
  }

  latest(): Promise<AvailableVersion | null> {
    return this.#store.latestVersion(this.#options.runId);
  }

  noteWorker(id: string, policy: string, state: WorkerState | 'stopped', version: number): void {
    this.#workers.add(this.#workerId(id));
    const worker = { worker_id: this.#workerId(id), run_id: this.#options.runId, policy, state, version };
    this.#note(() => this.#store.upsertWorker(worker));
  }

  noteSync({ worker_id, from_version, to_version, drain_ms, load_ms, error }: WorkerSync): void {
    this.#note(async () => {
      const id = await this.#store.startSync({ worker_id: this.#workerId(worker_id), from_version, to_version });
      await this.#store.finishSync(id, { drain_ms, load_ms, ...(error === undefined ? {} : { error }) });
    });
  }

  /**
   * Gives back whatever this process still held. The store itself stays open. Where it is gone, the leases end by
   * themselves; whoever was using it has been told.
   * @throws where trajectories went into files: the reason, once, and all files.
   */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#notes;
    const error = await this.#store.releaseLease(this.#owner).then(
      () => null,
      (reason: unknown) => reason,
    );
    // This comes first: a store that could not take trajectories rarely takes back leases.
    if (this.#kept.length > 0) throw allKept(this.#kept);
    if (error !== null && !isGone(error)) throw error;
    if (error !== null && !this.#failed) this.#options.onError(messageOf(error));
  }

  async #begin(group: Group): Promise<Group> {
    const { group_id, size, task } = group;
    const planned = { group_id, run_id: this.#options.runId, task_id: task.task_id, size };
    const begun = await this.#store.planAndLease(planned, { owner: this.#owner, ttlMs: LEASE_MS });
    return { ...group, ...begun, maxSteps: begun.maxSteps ?? group.maxSteps };
  }

  #fail(error: unknown): never {
    this.#failed = true;
    throw error;
  }

  #workerId(id: string): string {
    return `${this.#owner}/${id}`;
  }

  /**
   * Notes are kept in order and hold nobody up; one that fails is told of, and costs nothing else. Of a store that is
   * gone those tell that cannot go on without it.
   */
  #note(work: () => Promise<unknown>): void {
    this.#notes = this.#notes.then(work).catch((error: unknown) => {
      if (!isGone(error)) this.#options.onError(messageOf(error));
    });
  }
}

function allKept(kept: readonly KeptInFile[]): KeptInFile {
  const [first] = kept as [KeptInFile];
  if (kept.length === 1) return first;
  const reason = first.cause instanceof DartError ? first.cause.message : first.message;
  const files = kept.map(
    ({ path, trajectories: n }) => `${n} ${n === 1 ? 'trajectory' : 'trajectories'} kept in ${path}`,
  );
  const { where, hint, cause } = first;
  return new KeptInFile([reason, ...files].join('; '), first, { where, hint, cause });
}
