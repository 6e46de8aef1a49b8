import type { Kysely } from 'kysely';
import type { Env, Task, Trajectory } from '../stream/records.ts';
import * as closed from './closed.ts';
import type { StoreContext } from './context.ts';
import { readCursor, writeCursor } from './cursors.ts';
import * as experience from './experience.ts';
import * as groups from './groups.ts';
import * as leases from './leases.ts';
import { showLife } from './lost.ts';
import { newOwner } from './owner.ts';
import * as planned from './planned.ts';
import { type Pruned, type PruneOptions, pruneRollouts } from './prune.ts';
import type { Rescue } from './rescue.ts';
import * as rollouts from './rollouts.ts';
import * as runs from './runs.ts';
import type { StoreTables } from './schema.ts';
import type { SpoolHow } from './spool.ts';
import * as statistics from './statistics.ts';
import type { Steady } from './steady.ts';
import * as versions from './versions.ts';
import * as workers from './workers.ts';

export interface StoreParts {
  context: StoreContext;
  steady: Steady;
  /** Null: what the store cannot take is lost with it (a store in memory). */
  rescue: Rescue | null;
}

/**
 * The data manager (design §4): what flows back from one process to another. Any number of processes may have the same
 * store open. Each method is one transaction; what it does exactly is said at the function of the same name.
 */
export class Store {
  /** For tests: nothing waits here for a store that is away. Everybody else asks by `query`. */
  readonly db: Kysely<StoreTables>;
  readonly #context: StoreContext;
  readonly #steady: Steady;
  readonly #rescue: Rescue | null;
  /** The process, as the holder of its desktops. */
  readonly #owner = newOwner();

  constructor({ context, steady, rescue }: StoreParts) {
    this.#context = context;
    this.#steady = steady;
    this.#rescue = rescue;
    this.db = context.db;
  }

  /** A query of one's own (tables in schema.ts), as steady as every operation: it may run more than once. */
  query<T>(ask: (db: Kysely<StoreTables>) => Promise<T>): Promise<T> {
    return this.#steady.run(() => ask(this.db));
  }

  registerRun(run: runs.NewRun): Promise<void> {
    return this.#steady.run(() => runs.registerRun(this.#context, run));
  }
  runConfig(runId: string): Promise<Record<string, unknown> | null> {
    return this.#steady.run(() => runs.runConfig(this.#context, runId));
  }
  listRuns(): Promise<string[]> {
    return this.#steady.run(() => runs.listRuns(this.#context));
  }
  upsertTasks(tasks: readonly Task[]): Promise<void> {
    return this.#steady.run(() => runs.upsertTasks(this.#context, tasks));
  }
  listTasks(): Promise<runs.StoredTask[]> {
    return this.#steady.run(() => runs.listTasks(this.#context));
  }

  /** Where the store cannot take them, they are kept in a file, and the error says in which. */
  insertTrajectories(trajectories: readonly Trajectory[], options?: rollouts.InsertOptions): Promise<number> {
    const insert = () => rollouts.insertTrajectories(this.#context, trajectories, options);
    const unprinted = options?.doneBy !== undefined;
    const how = { experience: options?.experience === true, capacity: null, unprinted };
    return this.#orSpool(this.#steady.run(insert), trajectories, how);
  }
  trajectory(trajectoryId: string): Promise<Trajectory | null> {
    return this.#steady.run(() => rollouts.readTrajectory(this.#context, trajectoryId));
  }
  trajectoriesOfGroup(groupId: string): Promise<Trajectory[]> {
    return this.#steady.run(() => rollouts.trajectoriesOfGroup(this.#context, groupId));
  }
  openTrajectories(runId: string): Promise<Trajectory[]> {
    return this.#steady.run(() => rollouts.openTrajectories(this.#context, runId));
  }
  storedMembers(groupIds: readonly string[]): Promise<Map<string, number>> {
    return this.#steady.run(() => rollouts.storedMembers(this.#context, groupIds));
  }
  pruneRollouts(options: PruneOptions): Promise<Pruned> {
    return this.#steady.run(() => pruneRollouts(this.#context, options));
  }
  countRollouts(runId: string): Promise<number> {
    return this.#steady.run(() => rollouts.countRollouts(this.#context, runId));
  }

  taskStatistics(
    taskIds: readonly string[],
    window: number,
    options?: statistics.StatisticsOptions,
  ): Promise<Map<string, statistics.TaskStatistics>> {
    return this.#steady.run(() => statistics.taskStatistics(this.#context, taskIds, window, options));
  }

  leaseWork(items: readonly leases.WorkItem[], owner: string, ttlMs: number): Promise<leases.WorkItem[]> {
    return this.#steady.run(() => leases.leaseWork(this.#context, items, owner, ttlMs));
  }
  renewLease(owner: string, ttlMs: number): Promise<number> {
    return this.#steady.run(() => leases.renewLease(this.#context, owner, ttlMs));
  }
  releaseLease(owner: string, items?: readonly leases.WorkItem[]): Promise<void> {
    return this.#steady.run(() => leases.releaseLease(this.#context, owner, items));
  }
  liveWork(groupId: string): Promise<number[]> {
    return this.#steady.run(() => leases.liveWork(this.#context, groupId));
  }
  abandonedGroups(groupIds: readonly string[]): Promise<Set<string>> {
    return this.#steady.run(() => leases.abandonedGroups(this.#context, groupIds));
  }

  planGroups(list: readonly Omit<groups.NewGroup, 'members'>[]): Promise<void> {
    return this.#steady.run(() => groups.planGroups(this.#context, list));
  }
  planAndLease(group: Omit<groups.NewGroup, 'members'>, lease: groups.Lease): Promise<planned.PlannedGroup> {
    return this.#steady.run(() => planned.planAndLease(this.#context, group, lease));
  }
  insertGroup(group: groups.NewGroup, lease?: groups.Lease): Promise<boolean> {
    return this.#steady.run(() => groups.insertGroup(this.#context, group, lease));
  }
  leaseGroup(groupId: string, lease: groups.Lease): Promise<groups.LeaseAnswer> {
    return this.#steady.run(() => groups.leaseGroup(this.#context, groupId, lease));
  }
  leaseGroups(lease: groups.Lease, options?: { run_id?: string; limit?: number }): Promise<groups.LeasedGroup[]> {
    return this.#steady.run(() => groups.leaseGroups(this.#context, lease, options));
  }
  acknowledge(groupIds: readonly string[], how?: { version?: number; reason?: string }): Promise<number> {
    return this.#steady.run(() => closed.acknowledge(this.#context, groupIds, how));
  }
  finishedGroups(groupIds: readonly string[]): Promise<Set<string>> {
    return this.#steady.run(() => closed.finishedGroups(this.#context, groupIds));
  }
  closedGroups(groupIds: readonly string[]): Promise<Map<string, string>> {
    return this.#steady.run(() => closed.closedGroups(this.#context, groupIds));
  }
  groupCounts(runId?: string): Promise<groups.GroupCount[]> {
    return this.#steady.run(() => groups.groupCounts(this.#context, runId));
  }

  publishVersion(version: versions.NewVersion): Promise<versions.Publication> {
    return this.#steady.run(() => versions.publishVersion(this.#context, version));
  }
  latestVersion(runId?: string): Promise<versions.PublishedVersion | null> {
    return this.#steady.run(() => versions.latestVersion(this.#context, runId));
  }

  /** As with `insertTrajectories`. */
  addExperience(trajectories: readonly Trajectory[], options: experience.ExperienceOptions): Promise<number> {
    const add = () => experience.addExperience(this.#context, trajectories, options);
    const how = { experience: options.experience === true, capacity: options.capacity, unprinted: false };
    return this.#orSpool(this.#steady.run(add), trajectories, how);
  }
  newestSuccess(taskId: string): Promise<Trajectory | null> {
    return this.#steady.run(() => experience.newestSuccess(this.#context, taskId));
  }
  experienceIds(taskId: string): Promise<string[]> {
    return this.#steady.run(() => experience.experienceIds(this.#context, taskId));
  }
  experienceCounts(): Promise<experience.ExperienceCount[]> {
    return this.#steady.run(() => experience.experienceCounts(this.#context));
  }

  upsertWorker(worker: workers.WorkerState): Promise<void> {
    return this.#steady.run(() => workers.upsertWorker(this.#context, worker));
  }
  startSync(sync: workers.SyncStart): Promise<number> {
    return this.#steady.run(() => workers.startSync(this.#context, sync));
  }
  finishSync(syncId: number, end: workers.SyncEnd): Promise<void> {
    return this.#steady.run(() => workers.finishSync(this.#context, syncId, end));
  }
  upsertEnvironment(runId: string, env: Env, failures = 0): Promise<void> {
    const desktop = { run_id: runId, owner: this.#owner, env, failures };
    return this.#steady.run(() => workers.upsertEnvironment(this.#context, desktop));
  }

  /** Workers of this process, by id; its desktops are known here. */
  showLife(workerIds: readonly string[]): Promise<void> {
    return this.#steady.run(() => showLife(this.#context, workerIds, this.#owner));
  }

  readCursor<T>(name: string): Promise<T | null> {
    return this.#steady.run(() => readCursor<T>(this.#context, name));
  }
  writeCursor(name: string, value: unknown): Promise<void> {
    return this.#steady.run(() => writeCursor(this.#context, name, value));
  }

  close(): Promise<void> {
    return this.db.destroy();
  }

  #orSpool(work: Promise<number>, trajectories: readonly Trajectory[], how: SpoolHow): Promise<number> {
    const rescue = this.#rescue;
    return rescue === null ? work : work.catch((error: unknown) => rescue.keep(error, trajectories, how));
  }
}
