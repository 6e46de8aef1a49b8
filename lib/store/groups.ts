import { inTransaction, type StoreContext, slices } from './context.ts';
import { isDead } from './owner.ts';
import { ensureRuns, ensureTasks } from './parents.ts';
import type { GroupRow } from './schema.ts';

export interface GroupMember {
  trajectory_id: string;
  /** Place in the group, from 0. */
  position: number;
  reward: number;
  advantage: number;
  /** Put there by the experience pool. */
  injected: boolean;
}

export interface NewGroup {
  group_id: string;
  run_id: string;
  task_id: string;
  /** How many rollouts were planned. */
  size: number;
  /** Those to learn from; empty for a rejected group. */
  members: readonly GroupMember[];
  /** Why the group is rejected; absent for one to learn from. */
  reason?: string;
}

export interface Lease {
  owner: string;
  ttlMs: number;
}

/** A group to learn from, as its curator decided it. */
export interface LeasedGroup {
  group_id: string;
  run_id: string;
  task_id: string;
  size: number;
  members: GroupMember[];
}

export type LeaseAnswer =
  | { status: 'leased'; group: LeasedGroup }
  /** Under a live lease of somebody else. */
  | { status: 'held' }
  | { status: 'acknowledged'; version: number | null }
  | { status: 'rejected'; reason: string }
  | { status: 'absent' };

/**
 * Stores the decision on a group, once: the first decision stands, whoever comes later finds it with `leaseGroup`.
 * With a `lease` the group is leased in the same transaction.
 * @returns whether this call made the decision.
 */
export function insertGroup(context: StoreContext, group: NewGroup, lease?: Lease): Promise<boolean> {
  return inTransaction(context, async (inner) => {
    await plan(inner, group);
    const query = inner.db.selectFrom('training_group').select('state').where('group_id', '=', group.group_id);
    const { state } = await inner.dialect.lockRows(query).executeTakeFirstOrThrow();
    if (state !== 'planned') return false;
    const { created_at: _, ...decision } = groupRow(inner.now(), group, lease);
    await inner.db.updateTable('training_group').set(decision).where('group_id', '=', group.group_id).execute();
    await insertMembers(inner, group);
    return true;
  });
}

/** Announces a group whose rollouts are about to be made; one that is known already is left alone. */
export async function planGroups(context: StoreContext, groups: readonly Omit<NewGroup, 'members'>[]): Promise<void> {
  await inTransaction(context, async (inner) => {
    for (const group of groups) await plan(inner, group);
  });
}

/** Leases one group, unless it is final or somebody else is at it. A lease of one's own is prolonged. */
export function leaseGroup(context: StoreContext, groupId: string, lease: Lease): Promise<LeaseAnswer> {
  return inTransaction(context, async (inner) => {
    const query = inner.db.selectFrom('training_group').selectAll().where('group_id', '=', groupId);
    const row = await inner.dialect.lockRows(query).executeTakeFirst();
    if (!row) return { status: 'absent' };
    if (row.state === 'planned') return { status: 'absent' };
    if (row.state === 'acknowledged') return { status: 'acknowledged', version: row.learned_version };
    if (row.state === 'rejected') return { status: 'rejected', reason: row.reason ?? 'unknown' };
    if (isHeld(row, lease.owner, inner.now())) return { status: 'held' };
    const [group] = await take(inner, [row], lease);
    return { status: 'leased', group: group! };
  });
}

/**
 * Leases up to `limit` groups that are ready and held by nobody: never handed on, or handed on and never acknowledged
 * until the lease ended. Oldest first.
 */
export function leaseGroups(
  context: StoreContext,
  lease: Lease,
  options: { run_id?: string; limit?: number } = {},
): Promise<LeasedGroup[]> {
  return inTransaction(context, async (inner) => {
    const limit = options.limit ?? 100;
    const taken: LeasedGroup[] = [];
    // Looked for without locks, so that several curators do not stop at the same groups.
    for (const ids of slices(await readyGroups(inner, options.run_id), limit)) {
      const rows = await inner.dialect.lockFreeRows(selectReady(inner, ids)).execute();
      const free = rows.filter((row) => isFree(row, inner.now())).slice(0, limit - taken.length);
      taken.push(...(await take(inner, free, lease)));
      if (taken.length >= limit) break;
    }
    return taken;
  });
}

/** Ids of the groups that are ready and seem to be held by nobody, oldest first. */
async function readyGroups({ db, now }: StoreContext, runId: string | undefined): Promise<string[]> {
  let query = db
    .selectFrom('training_group')
    .select(['group_id', 'lease_owner', 'lease_until'])
    .where('state', '=', 'ready')
    .orderBy('created_at')
    .orderBy('group_id');
  if (runId !== undefined) query = query.where('run_id', '=', runId);
  const rows = await query.execute();
  return rows.filter((row) => isFree(row, now())).map((row) => row.group_id);
}

function selectReady({ db }: StoreContext, ids: readonly string[]) {
  return db
    .selectFrom('training_group')
    .selectAll()
    .where('group_id', 'in', ids)
    .where('state', '=', 'ready')
    .orderBy('created_at')
    .orderBy('group_id');
}

export interface GroupCount {
  state: string;
  reason: string | null;
  groups: number;
}

/** How many groups there are of each state and reason. */
export async function groupCounts({ db }: StoreContext, runId?: string): Promise<GroupCount[]> {
  let query = db
    .selectFrom('training_group')
    .select(['state', 'reason', (eb) => eb.fn.countAll().as('groups')])
    .groupBy(['state', 'reason'])
    .orderBy('state')
    .orderBy('reason');
  if (runId !== undefined) query = query.where('run_id', '=', runId);
  const rows = await query.execute();
  return rows.map((row) => ({ ...row, groups: Number(row.groups) }));
}

async function take(context: StoreContext, rows: readonly GroupRow[], lease: Lease): Promise<LeasedGroup[]> {
  const groups: LeasedGroup[] = [];
  const now = context.now();
  for (const row of rows) {
    await context.db
      .updateTable('training_group')
      .set({ lease_owner: lease.owner, lease_until: now + lease.ttlMs, updated_at: now })
      .where('group_id', '=', row.group_id)
      .execute();
    const { group_id, run_id, task_id, size } = row;
    groups.push({ group_id, run_id, task_id, size, members: await readMembers(context, group_id) });
  }
  return groups;
}

type LeaseColumns = Pick<GroupRow, 'lease_owner' | 'lease_until'>;

function isHeld(row: LeaseColumns, owner: string, now: number): boolean {
  if (row.lease_owner === null || row.lease_owner === owner || row.lease_until === null) return false;
  return row.lease_until >= now && !isDead(row.lease_owner);
}

function isFree(row: LeaseColumns, now: number): boolean {
  return !isHeld(row, '', now);
}

async function readMembers({ db }: StoreContext, groupId: string): Promise<GroupMember[]> {
  const rows = await db
    .selectFrom('group_member')
    .select(['trajectory_id', 'position', 'reward', 'advantage', 'injected'])
    .where('group_id', '=', groupId)
    .orderBy('position')
    .execute();
  return rows.map((row) => ({ ...row, injected: row.injected === 1 }));
}

async function insertMembers({ db }: StoreContext, group: NewGroup): Promise<void> {
  if (group.members.length === 0) return;
  const rows = group.members.map((member) => ({
    group_id: group.group_id,
    trajectory_id: member.trajectory_id,
    position: member.position,
    reward: member.reward,
    advantage: member.advantage,
    injected: member.injected ? 1 : 0,
  }));
  await db.insertInto('group_member').values(rows).execute();
}

/** Inside a transaction: the row of a group that nobody has decided, where it is missing. */
export async function plan(context: StoreContext, group: Omit<NewGroup, 'members'>): Promise<void> {
  await ensureRuns(context, [group.run_id]);
  await ensureTasks(context, [{ task_id: group.task_id, domain: '', instruction: '' }]);
  const row = { ...groupRow(context.now(), { ...group, reason: undefined }), state: 'planned' as const };
  await context.dialect.ignoreDuplicates(context.db.insertInto('training_group').values(row), 'group_id').execute();
}

function groupRow(now: number, group: Omit<NewGroup, 'members'>, lease?: Lease): GroupRow {
  const rejected = group.reason !== undefined;
  return {
    group_id: group.group_id,
    run_id: group.run_id,
    task_id: group.task_id,
    size: group.size,
    state: rejected ? 'rejected' : 'ready',
    reason: group.reason ?? null,
    lease_owner: lease && !rejected ? lease.owner : null,
    lease_until: lease && !rejected ? now + lease.ttlMs : null,
    learned_version: null,
    created_at: now,
    updated_at: now,
  };
}
