import type { Store } from '../../store/index.ts';
import type { Trajectory } from '../../stream/records.ts';
import { isSuccess } from '../success.ts';

/**
 * Those successes that should enter the pool: new to the store, or of a task whose pool has room. A success that newer
 * ones have pushed out does not come back and push out others, so that the same import again changes nothing.
 */
export async function forPool(
  store: Store,
  trajectories: readonly Trajectory[],
  capacity: number,
): Promise<Trajectory[]> {
  const successes = trajectories.filter(isSuccess);
  if (successes.length === 0) return [];
  const ids = successes.map((trajectory) => trajectory.trajectory_id);
  const rows = await store.query((db) =>
    db
      .selectFrom('rollout')
      .select('trajectory_id')
      .where('trajectory_id', 'in', ids)
      .where('standing', '=', 'experience')
      .execute(),
  );
  const stored = new Set(rows.map((row) => row.trajectory_id));
  const pooled = new Map<string, number>();
  const wanted: Trajectory[] = [];
  for (const success of successes) {
    const { task_id: task, trajectory_id: id } = success;
    if (!pooled.has(task)) pooled.set(task, (await store.experienceIds(task)).length);
    const held = pooled.get(task)!;
    if (stored.has(id) && held >= capacity) continue;
    pooled.set(task, held + 1);
    wanted.push(success);
  }
  return wanted;
}
