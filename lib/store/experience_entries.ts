import type { Trajectory } from '../stream/records.ts';
import { unpackTrajectory } from './codec.ts';
import type { Store } from './store.ts';

/** One success in the pool. */
export interface ExperienceEntry {
  /** Order of arrival in the pool. */
  experience_seq: number;
  task_id: string;
  trajectory_id: string;
  /** Milliseconds since 1970. */
  added_at: number;
  /** Whether every token has an id and a log-probability. */
  scored: boolean;
}

/** Rows that are read at a time, and entries that one statement deletes. */
const PAGE = 200;

/** What the pool holds (of one task), oldest first. */
export async function experienceEntries(store: Pick<Store, 'query'>, taskId?: string): Promise<ExperienceEntry[]> {
  const rows = await store.query((db) => {
    const query = db
      .selectFrom('experience')
      .select(['experience_seq', 'task_id', 'trajectory_id', 'added_at', 'scored'])
      .orderBy('experience_seq');
    return (taskId === undefined ? query : query.where('task_id', '=', taskId)).execute();
  });
  return rows.map((row) => ({
    ...row,
    experience_seq: Number(row.experience_seq),
    added_at: Number(row.added_at),
    scored: Number(row.scored) === 1,
  }));
}

/** The trajectories of the pool (of one task), oldest entry first, a page of them in memory at a time. */
export async function* pooledTrajectories(
  store: Pick<Store, 'query'>,
  taskId?: string,
): AsyncGenerator<Trajectory, void, void> {
  for (let last = -1; ; ) {
    const after = last;
    const rows = await store.query((db) => selectPooled(db, after, taskId).execute());
    for (const row of rows) yield unpackTrajectory(row.record, row.trajectory_id);
    if (rows.length < PAGE) return;
    last = Number(rows.at(-1)!.experience_seq);
  }
}

function selectPooled(db: Store['db'], after: number, taskId: string | undefined) {
  const query = db
    .selectFrom('experience')
    .innerJoin('rollout', 'rollout.trajectory_id', 'experience.trajectory_id')
    .select(['experience.experience_seq', 'rollout.trajectory_id', 'rollout.record'])
    .where('experience.experience_seq', '>', after)
    .orderBy('experience.experience_seq')
    .limit(PAGE);
  return taskId === undefined ? query : query.where('experience.task_id', '=', taskId);
}

/**
 * Takes entries out of the pool; the rollouts themselves stay, since groups may have been made with them.
 * @returns how many were there. Too few where the answer of a server was lost and the same was asked again.
 */
export async function removeExperience(store: Pick<Store, 'query'>, entries: readonly number[]): Promise<number> {
  let removed = 0;
  for (let start = 0; start < entries.length; start += PAGE) {
    const part = entries.slice(start, start + PAGE);
    const result = await store.query((db) =>
      db.deleteFrom('experience').where('experience_seq', 'in', part).executeTakeFirst(),
    );
    removed += Number(result.numDeletedRows);
  }
  return removed;
}
