import type { Kysely } from 'kysely';
import type { Env, Task, Trajectory } from '../stream/records.ts';
import type { StoreContext } from './context.ts';
import { readCursor, writeCursor } from './cursors.ts';
import * as experience from './experience.ts';
import * as groups from './groups.ts';
import * as leases from './leases.ts';
import * as rollouts from './rollouts.ts';
import * as runs from './runs.ts';
import type { StoreTables } from './schema.ts';
import * as statistics from './statistics.ts';
import * as versions from './versions.ts';
import * as workers from './workers.ts';

/**
 * The data manager (design §4): what flows back from one process to another. Any number of processes may have the same
 * store open. Each method is one transaction; what it does exactly is said at the function of the same name.
 */
export class Store {
  /** For queries of one's own; tables in schema.ts. */
  readonly db: Kysely<StoreTables>;
  readonly url: string;
  readonly #context: StoreContext;

  constructor(context: StoreContext, url: string) {
    this.#context = context;
    this.db = context.db;
    this.url = url;
  }

  registerRun(run: runs.NewRun): Promise<void> {
    return runs.registerRun(this.#context, run);
  }
  runConfig(runId: string): Promise<Record<string, unknown> | null> {
    return runs.runConfig(this.#context, runId);
  }
  listRuns(): Promise<string[]> {
    return runs.listRuns(this.#context);
  }
  upsertTasks(tasks: readonly Task[]): Promise<void> {
    return runs.upsertTasks(this.#context, tasks);
  }
  listTasks(): Promise<runs.StoredTask[]> {
    return runs.listTasks(this.#context);
  }

  insertTrajectories(trajectories: readonly Trajectory[], options?: rollouts.InsertOptions): Promise<number> {
    return rollouts.insertTrajectories(this.#context, trajectories, options);
  }
  trajectory(trajectoryId: string): Promise<Trajectory | null> {
    return rollouts.readTrajectory(this.#context, trajectoryId);
  }
  trajectoriesOfGroup(groupId: string): Promise<Trajectory[]> {
    return rollouts.trajectoriesOfGroup(this.#context, groupId);
  }
  openTrajectories(runId: string): Promise<Trajectory[]> {
    return rollouts.openTrajectories(this.#context, runId);
  }
  storedMembers(groupIds: readonly string[]): Promise<Map<string, number>> {
    return rollouts.storedMembers(this.#context, groupIds);
  }
  countRollouts(runId: string): Promise<number> {
    return rollouts.countRollouts(this.#context, runId);
  }

  taskStatistics(
    taskIds: readonly string[],
    window: number,
    options?: statistics.StatisticsOptions,
  ): Promise<Map<string, statistics.TaskStatistics>> {
    return statistics.taskStatistics(this.#context, taskIds, window, options);
  }

  leaseWork(items: readonly leases.WorkItem[], owner: string, ttlMs: number): Promise<leases.WorkItem[]> {
    return leases.leaseWork(this.#context, items, owner, ttlMs);
  }
  renewLease(owner: string, ttlMs: number): Promise<number> {
    return leases.renewLease(this.#context, owner, ttlMs);
  }
  releaseLease(owner: string, items?: readonly leases.WorkItem[]): Promise<void> {
    return leases.releaseLease(this.#context, owner, items);
  }
  liveWork(groupId: string): Promise<number[]> {
    return leases.liveWork(this.#context, groupId);
  }
  abandonedGroups(groupIds: readonly string[]): Promise<Set<string>> {
    return leases.abandonedGroups(this.#context, groupIds);
  }

  planGroups(list: readonly Omit<groups.NewGroup, 'members'>[]): Promise<void> {
    return groups.planGroups(this.#context, list);
  }
  insertGroup(group: groups.NewGroup, lease?: groups.Lease): Promise<boolean> {
    return groups.insertGroup(this.#context, group, lease);
  }
  leaseGroup(groupId: string, lease: groups.Lease): Promise<groups.LeaseAnswer> {
    return groups.leaseGroup(this.#context, groupId, lease);
  }
  leaseGroups(lease: groups.Lease, options?: { run_id?: string; limit?: number }): Promise<groups.LeasedGroup[]> {
    return groups.leaseGroups(this.#context, lease, options);
  }
  acknowledge(groupIds: readonly string[], how?: { version?: number; reason?: string }): Promise<number> {
    return groups.acknowledge(this.#context, groupIds, how);
  }
  finishedGroups(groupIds: readonly string[]): Promise<Set<string>> {
    return groups.finishedGroups(this.#context, groupIds);
  }
  groupCounts(runId?: string): Promise<groups.GroupCount[]> {
    return groups.groupCounts(this.#context, runId);
  }

  publishVersion(version: versions.NewVersion): Promise<boolean> {
    return versions.publishVersion(this.#context, version);
  }
  latestVersion(runId?: string): Promise<versions.PublishedVersion | null> {
    return versions.latestVersion(this.#context, runId);
  }

  addExperience(trajectories: readonly Trajectory[], options: experience.ExperienceOptions): Promise<number> {
    return experience.addExperience(this.#context, trajectories, options);
  }
  newestSuccess(taskId: string): Promise<Trajectory | null> {
    return experience.newestSuccess(this.#context, taskId);
  }
  experienceIds(taskId: string): Promise<string[]> {
    return experience.experienceIds(this.#context, taskId);
  }
  experienceCounts(): Promise<experience.ExperienceCount[]> {
    return experience.experienceCounts(this.#context);
  }

  upsertWorker(worker: workers.WorkerState): Promise<void> {
    return workers.upsertWorker(this.#context, worker);
  }
  startSync(sync: workers.SyncStart): Promise<number> {
    return workers.startSync(this.#context, sync);
  }
  finishSync(syncId: number, end: workers.SyncEnd): Promise<void> {
    return workers.finishSync(this.#context, syncId, end);
  }
  upsertEnvironment(runId: string, env: Env, failures?: number): Promise<void> {
    return workers.upsertEnvironment(this.#context, runId, env, failures);
  }

  readCursor<T>(name: string): Promise<T | null> {
    return readCursor<T>(this.#context, name);
  }
  writeCursor(name: string, value: unknown): Promise<void> {
    return writeCursor(this.#context, name, value);
  }

  close(): Promise<void> {
    return this.db.destroy();
  }
}
