import { unpackTrajectory } from './codec.ts';
import { inTransaction, type StoreContext } from './context.ts';
import { type Lease, type NewGroup, plan } from './groups.ts';
import { leaseMembers } from './leases.ts';

/** A group whose rollouts are being made, as it was begun. */
export interface PlannedGroup {
  size: number;
  /** Most steps of its rollouts; null where none is stored yet. */
  maxSteps: number | null;
  /** Those that were obtained. */
  members: number[];
}

/**
 * Announces a group as `planGroups` does, and leases its rollouts as `leaseWork` does, in one transaction. A group that
 * was begun before keeps the size and the cap of steps that it has, whatever `size` says now: rollouts beyond them would
 * come to a group that a curator has taken for whole.
 */
export function planAndLease(
  context: StoreContext,
  group: Omit<NewGroup, 'members'>,
  lease: Lease,
): Promise<PlannedGroup> {
  return inTransaction(context, async (inner) => {
    const { group_id } = group;
    const first = await firstRollout(inner, group_id);
    await plan(inner, { ...group, size: first?.group_size ?? group.size });
    const { size } = await inner.db
      .selectFrom('training_group')
      .select('size')
      .where('group_id', '=', group_id)
      .executeTakeFirstOrThrow();
    const all = Array.from({ length: size }, (_, index) => index);
    const members = await leaseMembers(inner, group_id, all, lease);
    return { size, maxSteps: members.length > 0 ? await capOf(inner, first) : null, members };
  });
}

type First = { trajectory_id: string; group_size: number } | undefined;

/** The oldest rollout of a group that is stored. */
function firstRollout({ db }: StoreContext, groupId: string): Promise<First> {
  return db
    .selectFrom('rollout')
    .select(['trajectory_id', 'group_size'])
    .where('group_id', '=', groupId)
    .where('standing', '!=', 'experience')
    .orderBy('rollout_seq')
    .limit(1)
    .executeTakeFirst();
}

async function capOf({ db }: StoreContext, rollout: First): Promise<number | null> {
  if (!rollout) return null;
  const { record } = await db
    .selectFrom('rollout')
    .select('record')
    .where('trajectory_id', '=', rollout.trajectory_id)
    .executeTakeFirstOrThrow();
  return unpackTrajectory(record, rollout.trajectory_id).limits.max_steps;
}
