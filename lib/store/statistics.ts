import { CompiledQuery, type Kysely } from 'kysely';
import { type StoreContext, slices } from './context.ts';
import type { StoreTables } from './schema.ts';

export interface TaskStatistics {
  /** How many of the newest scored rollouts were looked at (at most the window). */
  scored: number;
  /** Mean reward of those; null when there is none. */
  success_rate: number | null;
  /** Most steps of any rollout of the task with outcome `success`, ever. */
  longest_success: number | null;
  /** Rollouts that ended in an error and have no reward, ever. */
  failures: number;
}

export interface StatisticsOptions {
  /** Only rollouts of this run; without it those of all runs in the store. */
  run_id?: string;
}

/** Tasks of one statement: larger ones run no faster and take longer to prepare. */
const TASKS_PER_QUERY = 20;

/**
 * Statistics of tasks from their newest `window` scored rollouts (design §7: 16). Tasks that the store has never seen
 * are there too, with zeros. Demonstrations do not count: they say nothing about the policy.
 */
export async function taskStatistics(
  { db }: StoreContext,
  taskIds: readonly string[],
  window: number,
  options: StatisticsOptions = {},
): Promise<Map<string, TaskStatistics>> {
  const statistics = new Map<string, TaskStatistics>();
  for (const id of taskIds) statistics.set(id, { scored: 0, success_rate: null, longest_success: null, failures: 0 });
  for (const part of slices([...statistics.keys()], TASKS_PER_QUERY)) {
    for (const row of await readRows(db, part, window, options.run_id)) {
      statistics.set(row.task_id, {
        scored: Number(row.scored),
        success_rate: row.success_rate,
        longest_success: row.longest_success,
        failures: Number(row.failures),
      });
    }
  }
  return statistics;
}

interface StatisticsRow extends TaskStatistics {
  task_id: string;
}

/**
 * One select a task, each answered from an index without touching the table, however many rollouts there are: a window
 * function over all tasks would read them all. Written as text because building this tree with Kysely costs more than
 * running it; it is plain SQL of every dialect.
 */
async function readRows(
  db: Kysely<StoreTables>,
  taskIds: readonly string[],
  window: number,
  runId: string | undefined,
): Promise<StatisticsRow[]> {
  const scope = runId === undefined ? [] : [runId];
  const parameters = taskIds.flatMap((id) => [id, ...scope, id, ...scope, id, ...scope, id, window]);
  const text = statisticsSql(taskIds.length, runId !== undefined);
  const result = await db.executeQuery<StatisticsRow>(CompiledQuery.raw(text, parameters));
  return result.rows;
}

function statisticsSql(tasks: number, scoped: boolean): string {
  const scope = scoped ? 'run_id = ? and ' : '';
  const one = `select ? as task_id, count(*) as scored, avg(recent.reward) as success_rate,
    (select max(steps) from rollout where ${scope}task_id = ? and standing = 'scored' and outcome = 'success') as longest_success,
    (select count(*) from rollout where ${scope}task_id = ? and standing = 'error') as failures
    from (select reward from rollout where ${scope}task_id = ? and standing = 'scored'
      order by rollout_seq desc limit ?) as recent`;
  return Array.from({ length: tasks }, () => one).join('\nunion all\n');
}
