import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { listCounts } from '../../lib/curation/tally.ts';
import { failuresByOutcome } from '../../lib/curation/task-facts.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import type { Store, TaskStatistics } from '../../lib/store/index.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { type Dynamics, dynamicsOf } from './dynamics.ts';
import { storeToRead } from './store.ts';

interface Row extends TaskStatistics, Dynamics {
  task_id: string;
  domain: string;
  experience: number;
  outcomes: Record<string, number>;
}

/** `dart-curate stats`: success of each task from its newest rollouts. */
export async function run(context: CommandContext): Promise<number> {
  const store = await storeToRead(context);
  try {
    await refuseUnknownRun(context, store);
    const rows = await readRows(context, store);
    const output = await openOutput(context);
    for (const row of rows) await output.write(resultOf(row));
    const runId = context.options['run-id'] as string | undefined;
    await output.write({
      type: 'summary',
      v: SCHEMA_VERSION,
      command: 'dart-curate stats',
      tasks: rows.length,
      score: meanScore(rows),
      groups: await store.groupCounts(runId),
      versions: (await store.latestVersion(runId))?.version ?? null,
    });
    await output.close();
    if (context.options.table === true) await printTable(context.io, HEAD, rows.map(cells));
    if (rows.length === 0) logOf(context).info('the store knows no task yet');
    return rows.length > 0 ? EXIT.ok : EXIT.negative;
  } finally {
    await store.close();
  }
}

async function refuseUnknownRun({ options }: CommandContext, store: Store): Promise<void> {
  const runId = options['run-id'] as string | undefined;
  if (runId === undefined) return;
  const known = await store.listRuns();
  if (known.includes(runId)) return;
  const hint = known.length > 0 ? `one of ${known.slice(-5).join(', ')}` : 'a store that has runs';
  throw new DartError(`the store has no run ${runId}`, { where: '--run-id', hint });
}

async function readRows({ options }: CommandContext, store: Store): Promise<Row[]> {
  const tasks = await store.listTasks();
  const ids = tasks.map((task) => task.task_id);
  const run_id = options['run-id'] as string | undefined;
  const statistics = await store.taskStatistics(ids, Number(options['success-window']), { run_id });
  const pool = new Map((await store.experienceCounts()).map((row) => [row.task_id, row.successes]));
  const outcomes = await failuresByOutcome(store, ids, run_id);
  return tasks.map(({ task_id, domain }) => ({
    task_id,
    domain,
    ...statistics.get(task_id)!,
    ...dynamicsOf(statistics.get(task_id)!, options),
    outcomes: outcomes.get(task_id) ?? {},
    experience: pool.get(task_id) ?? 0,
  }));
}

function resultOf(row: Row) {
  return {
    type: 'result',
    v: SCHEMA_VERSION,
    task_id: row.task_id,
    domain: row.domain,
    score: row.success_rate,
    rollouts: row.scored,
    longest_success: row.longest_success,
    failures: row.failures,
    rollouts_next: row.rollouts_next,
    step_cap: row.step_cap,
    outcomes: row.outcomes,
    experience: row.experience,
  };
}

/** Mean over the tasks that were scored. */
function meanScore(rows: readonly Row[]): number | null {
  const scores = rows.map((row) => row.success_rate).filter((rate) => rate !== null);
  return scores.length === 0 ? null : scores.reduce((sum, rate) => sum + rate, 0) / scores.length;
}

const HEAD = ['task', 'domain', 'success', 'rollouts', 'longest success', 'errors', 'pool', 'n', 'cap', 'outcomes'];

function cells(row: Row): (string | number | null)[] {
  const success = row.success_rate === null ? null : row.success_rate.toFixed(2);
  return [
    row.task_id,
    row.domain,
    success,
    row.scored,
    row.longest_success,
    row.failures,
    row.experience,
    row.rollouts_next,
    row.step_cap,
    listCounts(row.outcomes),
  ];
}
