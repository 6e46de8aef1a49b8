import { inTransaction, type StoreContext } from './context.ts';

export interface PruneOptions {
  /** Rollouts that ended more than so many milliseconds ago. */
  olderThanMs: number;
  /** Leave those in the experience pool; otherwise they leave the pool too. Default true. */
  keepExperience?: boolean;
}

export interface Pruned {
  rollouts: number;
  experience: number;
}

/** Rollouts of one transaction: others wait meanwhile. */
const BATCH = 200;

/**
 * Deletes old rollouts, except those of groups that wait to be learned from. The rows of the groups stay, so that no
 * group is ever learned from twice; success rates and longest successes forget what is deleted, and a run that is begun
 * again does rollouts again whose group was never decided.
 */
export async function pruneRollouts(context: StoreContext, options: PruneOptions): Promise<Pruned> {
  const before = context.now() - options.olderThanMs;
  const keepExperience = options.keepExperience ?? true;
  const pruned = { rollouts: 0, experience: 0 };
  for (;;) {
    const batch = await inTransaction(context, (inner) => pruneBatch(inner, before, keepExperience));
    pruned.rollouts += batch.rollouts;
    pruned.experience += batch.experience;
    if (batch.rollouts < BATCH) return pruned;
  }
}

async function pruneBatch(context: StoreContext, before: number, keepExperience: boolean): Promise<Pruned> {
  const { db, dialect } = context;
  let query = db
    .selectFrom('rollout')
    .select('trajectory_id')
    .where('finished_at', '<', before)
    // Its own group, or one that it was put into from the pool.
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('training_group')
            .select('training_group.group_id')
            .whereRef('training_group.group_id', '=', 'rollout.group_id')
            .where('training_group.state', '=', 'ready'),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('group_member')
            .innerJoin('training_group', 'training_group.group_id', 'group_member.group_id')
            .select('group_member.group_id')
            .whereRef('group_member.trajectory_id', '=', 'rollout.trajectory_id')
            .where('training_group.state', '=', 'ready'),
        ),
      ),
    )
    .orderBy('rollout_seq')
    .limit(BATCH);
  if (keepExperience) {
    query = query.where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('experience')
            .select('experience_seq')
            .whereRef('experience.trajectory_id', '=', 'rollout.trajectory_id'),
        ),
      ),
    );
  }
  const rows = await dialect.lockFreeRows(query).execute();
  const ids = rows.map((row) => row.trajectory_id);
  if (ids.length === 0) return { rollouts: 0, experience: 0 };
  const forgotten = await db.deleteFrom('experience').where('trajectory_id', 'in', ids).executeTakeFirst();
  await db.deleteFrom('group_member').where('trajectory_id', 'in', ids).execute();
  await db.deleteFrom('rollout_step').where('trajectory_id', 'in', ids).execute();
  await db.deleteFrom('rollout').where('trajectory_id', 'in', ids).execute();
  return { rollouts: ids.length, experience: Number(forgotten.numDeletedRows) };
}
