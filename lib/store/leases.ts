import { CompiledQuery } from 'kysely';
import { inTransaction, type StoreContext, slices } from './context.ts';
import { isDead } from './owner.ts';

/** Once a rollout: written as text because building this tree with Kysely costs more than running it. */
const GIVE_BACK = 'delete from work_lease where owner = ? and group_id = ? and rollout_index = ?';

/** One planned rollout: a member of a group. */
export interface WorkItem {
  group_id: string;
  rollout_index: number;
}

/**
 * Leases rollouts to one worker process, so that several share the work without doing it twice.
 * @returns the items obtained: those that are neither finished nor under a live lease of somebody else, and whose group
 *   is still open.
 */
export async function leaseWork(
  context: StoreContext,
  items: readonly WorkItem[],
  owner: string,
  ttlMs: number,
): Promise<WorkItem[]> {
  const byGroup = new Map<string, number[]>();
  for (const { group_id, rollout_index } of items) {
    byGroup.set(group_id, [...(byGroup.get(group_id) ?? []), rollout_index]);
  }
  const obtained = new Set<string>();
  for (const [groupId, indices] of byGroup) {
    const sorted = [...new Set(indices)].sort((a, b) => a - b);
    const leased = await inTransaction(context, (inner) => leaseMembers(inner, groupId, sorted, { owner, ttlMs }));
    for (const index of leased) obtained.add(`${index} ${groupId}`);
  }
  return items.filter(({ group_id, rollout_index }) => obtained.has(`${rollout_index} ${group_id}`));
}

/** Inside a transaction. First the leases, then what is done: whoever finishes a rollout stores it before giving its lease back. */
export async function leaseMembers(
  context: StoreContext,
  groupId: string,
  indices: readonly number[],
  { owner, ttlMs }: { owner: string; ttlMs: number },
): Promise<number[]> {
  const { db, dialect, now } = context;
  const lease_until = now() + ttlMs;
  const rows = indices.map((rollout_index) => ({ group_id: groupId, rollout_index, owner, lease_until }));
  await dialect.ignoreDuplicates(db.insertInto('work_lease').values(rows), 'group_id').execute();
  const query = db
    .selectFrom('work_lease')
    .select(['rollout_index', 'owner', 'lease_until'])
    .where('group_id', '=', groupId)
    .where('rollout_index', 'in', indices)
    .orderBy('rollout_index');
  const leases = await dialect.lockRows(query).execute();
  const free = leases.filter((lease) => lease.owner === owner || lease.lease_until < now() || isDead(lease.owner));
  const done = await finishedMembers(context, groupId);
  const obtained: number[] = [];
  const finished: number[] = [];
  for (const { rollout_index } of free) (done(rollout_index) ? finished : obtained).push(rollout_index);
  if (finished.length > 0) {
    await db.deleteFrom('work_lease').where('group_id', '=', groupId).where('rollout_index', 'in', finished).execute();
  }
  if (obtained.length > 0) {
    await db
      .updateTable('work_lease')
      .set({ owner, lease_until })
      .where('group_id', '=', groupId)
      .where('rollout_index', 'in', obtained)
      .execute();
  }
  return obtained;
}

/** Which members of a group nobody has to make any more: all of a decided group, and those that were scored. */
async function finishedMembers({ db }: StoreContext, groupId: string): Promise<(index: number) => boolean> {
  const decided = await db
    .selectFrom('training_group')
    .select('group_id')
    .where('group_id', '=', groupId)
    .where('state', '!=', 'planned')
    .executeTakeFirst();
  if (decided) return () => true;
  const scored = await db
    .selectFrom('rollout')
    .select('rollout_index')
    .where('group_id', '=', groupId)
    .where('standing', '=', 'scored')
    .execute();
  const indices = new Set(scored.map((row) => row.rollout_index));
  return (index) => indices.has(index);
}

/** Prolongs all leases of `owner`; @returns how many it still had. */
export async function renewLease({ db, now }: StoreContext, owner: string, ttlMs: number): Promise<number> {
  const time = now();
  await db
    .updateTable('work_lease')
    .set({ lease_until: time + ttlMs })
    .where('owner', '=', owner)
    .where('lease_until', '>=', time)
    .execute();
  const row = await db
    .selectFrom('work_lease')
    .select((eb) => eb.fn.countAll<number>().as('held'))
    .where('owner', '=', owner)
    .where('lease_until', '>=', time)
    .executeTakeFirstOrThrow();
  return Number(row.held);
}

/** Gives items back, finished or not; without `items` all that `owner` holds. */
export async function releaseLease(context: StoreContext, owner: string, items?: readonly WorkItem[]): Promise<void> {
  await inTransaction(context, async (inner) => {
    if (items) await giveBack(inner, owner, items);
    else await inner.db.deleteFrom('work_lease').where('owner', '=', owner).execute();
  });
}

/** Inside a transaction: these items are leased by `owner` no longer. */
export async function giveBack({ db }: StoreContext, owner: string, items: readonly WorkItem[]): Promise<void> {
  for (const { group_id, rollout_index } of items) {
    await db.executeQuery(CompiledQuery.raw(GIVE_BACK, [owner, group_id, rollout_index]));
  }
}

/** Rollout indices of a group that somebody is still working on; the leases of a process that died do not count. */
export async function liveWork(context: StoreContext, groupId: string): Promise<number[]> {
  const leases = await liveLeases(context, [groupId]);
  return leases.map((lease) => lease.rollout_index).sort((a, b) => a - b);
}

/**
 * Those of `groupIds` that rollouts of this store planned and that nobody is working on any more: what they lack will
 * not come. Groups that were planned elsewhere are not known here, and never among them.
 */
export async function abandonedGroups(context: StoreContext, groupIds: readonly string[]): Promise<Set<string>> {
  const abandoned = new Set<string>();
  for (const part of slices(groupIds, 200)) {
    const planned = await context.db
      .selectFrom('training_group')
      .select('group_id')
      .where('group_id', 'in', part)
      .where('state', '=', 'planned')
      .execute();
    for (const row of planned) abandoned.add(row.group_id);
    for (const lease of await liveLeases(context, part)) abandoned.delete(lease.group_id);
  }
  return abandoned;
}

async function liveLeases({ db, now }: StoreContext, groupIds: readonly string[]) {
  const rows = await db
    .selectFrom('work_lease')
    .select(['group_id', 'rollout_index', 'owner'])
    .where('group_id', 'in', groupIds)
    .where('lease_until', '>=', now())
    .execute();
  return rows.filter((row) => !isDead(row.owner));
}
