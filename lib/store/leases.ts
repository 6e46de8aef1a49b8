import { inTransaction, type StoreContext, slices } from './context.ts';
import { isDead } from './owner.ts';

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
export function leaseWork(
  context: StoreContext,
  items: readonly WorkItem[],
  owner: string,
  ttlMs: number,
): Promise<WorkItem[]> {
  return inTransaction(context, async (inner) => {
    const lease_until = inner.now() + ttlMs;
    const obtained: WorkItem[] = [];
    for (const item of items) {
      if (await isTaken(inner, item, owner)) continue;
      const row = { group_id: item.group_id, rollout_index: item.rollout_index, owner, lease_until };
      const insert = inner.db.insertInto('work_lease').values(row);
      await inner.dialect
        .overwriteDuplicates(insert, ['group_id', 'rollout_index'], ['owner', 'lease_until'])
        .execute();
      obtained.push(item);
    }
    return obtained;
  });
}

/** Prolongs all leases of `owner`; @returns how many it still had. */
export async function renewLease({ db, now }: StoreContext, owner: string, ttlMs: number): Promise<number> {
  const result = await db
    .updateTable('work_lease')
    .set({ lease_until: now() + ttlMs })
    .where('owner', '=', owner)
    .where('lease_until', '>=', now())
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Gives items back, finished or not; without `items` all that `owner` holds. */
export async function releaseLease(context: StoreContext, owner: string, items?: readonly WorkItem[]): Promise<void> {
  await inTransaction(context, async ({ db }) => {
    if (!items) {
      await db.deleteFrom('work_lease').where('owner', '=', owner).execute();
      return;
    }
    for (const item of items) {
      await db
        .deleteFrom('work_lease')
        .where('owner', '=', owner)
        .where('group_id', '=', item.group_id)
        .where('rollout_index', '=', item.rollout_index)
        .execute();
    }
  });
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

async function isTaken({ db, now }: StoreContext, item: WorkItem, owner: string): Promise<boolean> {
  const live = await db
    .selectFrom('work_lease')
    .select('owner')
    .where('group_id', '=', item.group_id)
    .where('rollout_index', '=', item.rollout_index)
    .where('lease_until', '>=', now())
    .where('owner', '!=', owner)
    .executeTakeFirst();
  if (live && !isDead(live.owner)) return true;
  const decided = await db
    .selectFrom('training_group')
    .select('group_id')
    .where('group_id', '=', item.group_id)
    .where('state', '!=', 'planned')
    .executeTakeFirst();
  if (decided) return true;
  const finished = await db
    .selectFrom('rollout')
    .select('trajectory_id')
    .where('group_id', '=', item.group_id)
    .where('rollout_index', '=', item.rollout_index)
    .where('standing', '=', 'scored')
    .executeTakeFirst();
  return finished !== undefined;
}
