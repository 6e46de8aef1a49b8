import type { Trajectory } from '../stream/records.ts';
import { fingerprint, hasLogprobs, unpackTrajectory } from './codec.ts';
import { inTransaction, type StoreContext, slices } from './context.ts';
import { insertTrajectories } from './rollouts.ts';

export interface ExperienceOptions {
  /** Successes kept per task; the oldest go first. */
  capacity: number;
  /** See InsertOptions.experience; for trajectories that are not stored yet. */
  experience?: boolean;
}

/**
 * Puts successes into the experience pool, first in first out per task. The same episode (what was seen and answered)
 * is kept once; a copy that has log-probabilities takes the place of one that has none.
 * @returns how many entered the pool.
 */
export async function addExperience(
  context: StoreContext,
  trajectories: readonly Trajectory[],
  options: ExperienceOptions,
): Promise<number> {
  if (trajectories.length === 0) return 0;
  await insertTrajectories(context, trajectories, { experience: options.experience });
  return inTransaction(context, async (inner) => {
    const taskIds = [...new Set(trajectories.map((trajectory) => trajectory.task_id))].sort();
    await lockTasks(inner, taskIds);
    let added = 0;
    for (const trajectory of trajectories) {
      if (await addOne(inner, trajectory)) added += 1;
    }
    for (const taskId of taskIds) await evict(inner, taskId, options.capacity);
    return added;
  });
}

/** The success of this task that entered the pool last, or null. */
export async function newestSuccess({ db }: StoreContext, taskId: string): Promise<Trajectory | null> {
  const row = await db
    .selectFrom('experience')
    .innerJoin('rollout', 'rollout.trajectory_id', 'experience.trajectory_id')
    .select(['rollout.trajectory_id', 'rollout.record'])
    .where('experience.task_id', '=', taskId)
    .orderBy('experience.experience_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? unpackTrajectory(row.record, row.trajectory_id) : null;
}

/** Ids of the stored successes of a task, newest first. */
export async function experienceIds({ db }: StoreContext, taskId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('experience')
    .select('trajectory_id')
    .where('task_id', '=', taskId)
    .orderBy('experience_seq', 'desc')
    .execute();
  return rows.map((row) => row.trajectory_id);
}

export interface ExperienceCount {
  task_id: string;
  domain: string;
  successes: number;
  /** How many of them lack log-probabilities. */
  unscored: number;
}

/** How many successes the pool holds of each task; tasks without any are absent. */
export async function experienceCounts({ db }: StoreContext): Promise<ExperienceCount[]> {
  const rows = await db
    .selectFrom('experience')
    .innerJoin('task', 'task.task_id', 'experience.task_id')
    .select([
      'experience.task_id',
      'task.domain',
      (eb) => eb.fn.countAll().as('successes'),
      (eb) => eb.fn.sum('experience.scored').as('scored'),
    ])
    .groupBy(['experience.task_id', 'task.domain'])
    .orderBy('experience.task_id')
    .execute();
  return rows.map((row) => ({
    task_id: row.task_id,
    domain: row.domain,
    successes: Number(row.successes),
    unscored: Number(row.successes) - Number(row.scored),
  }));
}

/** One process after the other changes the pool of a task. In one order, so that no two wait for each other. */
async function lockTasks({ db, dialect }: StoreContext, taskIds: readonly string[]): Promise<void> {
  for (const ids of slices(taskIds, 200)) {
    const query = db.selectFrom('task').select('task_id').where('task_id', 'in', ids).orderBy('task_id');
    await dialect.lockRows(query).execute();
  }
}

async function addOne({ db, now }: StoreContext, trajectory: Trajectory): Promise<boolean> {
  const print = fingerprint(trajectory);
  const scored = hasLogprobs(trajectory) ? 1 : 0;
  const same = await db
    .selectFrom('experience')
    .select(['experience_seq', 'scored'])
    .where('task_id', '=', trajectory.task_id)
    .where('fingerprint', '=', print)
    .executeTakeFirst();
  if (same && same.scored >= scored) return false;
  if (same) await db.deleteFrom('experience').where('experience_seq', '=', same.experience_seq).execute();
  const { task_id, trajectory_id } = trajectory;
  const row = { task_id, trajectory_id, fingerprint: print, scored, added_at: now() };
  await db.insertInto('experience').values(row).execute();
  return true;
}

async function evict({ db }: StoreContext, taskId: string, capacity: number): Promise<void> {
  const rows = await db
    .selectFrom('experience')
    .select('experience_seq')
    .where('task_id', '=', taskId)
    .orderBy('experience_seq', 'desc')
    .execute();
  const surplus = rows.slice(capacity).map((row) => row.experience_seq);
  if (surplus.length > 0) await db.deleteFrom('experience').where('experience_seq', 'in', surplus).execute();
}
