import { inTransaction, type StoreContext, slices } from './context.ts';

const FINAL = ['acknowledged', 'rejected'] as const;
/** Ids in one statement. */
const SLICE = 200;

/** Why a group is closed that a version was learned from. */
const LEARNED = 'already_learned';

/** A group that was closed already when a version learned from it was published. */
export interface Overruled {
  group_id: string;
  /** Why it had been closed; `already_learned`: another version has it, which the store keeps. */
  reason: string;
}

/**
 * Marks groups as done with: learned into `version`, or passed over for `reason`. They never come again. One that is
 * closed already stays as it is.
 * @returns how many this call closed.
 */
export async function acknowledge(
  context: StoreContext,
  groupIds: readonly string[],
  how: { version?: number; reason?: string } = {},
): Promise<number> {
  return inTransaction(context, async ({ db, now }) => {
    let acknowledged = 0;
    for (const part of slices([...groupIds].sort(), SLICE)) {
      const result = await db
        .updateTable('training_group')
        .set({
          state: 'acknowledged',
          reason: how.reason ?? null,
          learned_version: how.version ?? null,
          lease_owner: null,
          lease_until: null,
          updated_at: now(),
        })
        .where('group_id', 'in', part)
        .where('state', 'in', ['planned', 'ready'])
        .executeTakeFirst();
      acknowledged += Number(result.numUpdatedRows);
    }
    return acknowledged;
  });
}

/**
 * As `acknowledge`, of what is in the weights for certain: a group that somebody closed meanwhile without learning from
 * it is learned all the same, and the store says so. Only the version of a group that has one stays.
 * @returns the groups that were closed already.
 */
export function acknowledgeLearned(
  context: StoreContext,
  groupIds: readonly string[],
  version: number,
): Promise<Overruled[]> {
  return inTransaction(context, async (inner) => {
    const { db, now } = inner;
    const overruled: Overruled[] = [];
    for (const part of slices([...groupIds].sort(), SLICE)) {
      const rows = await inner.dialect.lockRows(selectFinal(inner, part)).execute();
      const others = rows.filter((row) => row.learned_version !== version);
      overruled.push(...others.map((row) => ({ group_id: row.group_id, reason: reasonOf(row) })));
      const passedOver = rows.filter((row) => row.learned_version === null).map((row) => row.group_id);
      if (passedOver.length === 0) continue;
      await db
        .updateTable('training_group')
        .set({ state: 'acknowledged', reason: null, learned_version: version, updated_at: now() })
        .where('group_id', 'in', passedOver)
        .execute();
    }
    await acknowledge(inner, groupIds, { version });
    return overruled;
  });
}

/**
 * Those of `groupIds` that nobody should learn from any more, each with the reason: why it was rejected or passed over,
 * or `already_learned`.
 */
export async function closedGroups(context: StoreContext, groupIds: readonly string[]): Promise<Map<string, string>> {
  const closed = new Map<string, string>();
  for (const part of slices(groupIds, SLICE)) {
    for (const row of await selectFinal(context, part).execute()) closed.set(row.group_id, reasonOf(row));
  }
  return closed;
}

/** Those of `groupIds` that are final. */
export async function finishedGroups(context: StoreContext, groupIds: readonly string[]): Promise<Set<string>> {
  return new Set((await closedGroups(context, groupIds)).keys());
}

function selectFinal({ db }: StoreContext, groupIds: readonly string[]) {
  return db
    .selectFrom('training_group')
    .select(['group_id', 'state', 'reason', 'learned_version'])
    .where('group_id', 'in', groupIds)
    .where('state', 'in', FINAL)
    .orderBy('group_id');
}

function reasonOf(row: { state: string; reason: string | null; learned_version: number | null }): string {
  return row.learned_version === null ? (row.reason ?? row.state) : LEARNED;
}
