import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { type DropReason, TaskSelection } from '../../lib/curation/task_selection.ts';
import { EXIT } from '../../lib/errors.ts';
import { loadTasks } from '../../lib/osworld/load.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { SCHEMA_VERSION, type Task } from '../../lib/stream/records.ts';
import { type Skipped, skipRecord } from './input.ts';
import { storedBaseline } from './select_store.ts';
import { reading, readTrajectories } from './trajectories.ts';

const HEAD = ['task', 'domain', 'successes', 'rollouts', 'errors', 'kept or why not'];

/** `dart-curate select-tasks`: ARPO's choice of tasks. */
export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const rollouts = options.rollouts as number;
  const selection = new TaskSelection({
    minSuccess: options['min-success'] as number,
    rollouts,
    excludeInfeasible: options['exclude-infeasible'] === true,
  });
  const output = await openOutput(context);
  const tasks = new Map<string, Task>();
  const skipped = await readGivenTasks(context, tasks);
  if (options.store !== undefined) await storedBaseline(context, selection, tasks);
  else await readBaseline(context, selection, tasks, skipped, (record) => output.write(record));
  for (const task of tasks.values()) selection.meet(task.task_id, task.domain);

  const dropped: Record<DropReason, number> = { no_rollout: 0, too_few_successes: 0, infeasible: 0 };
  const kept: { task_id: string; domain: string; known: boolean }[] = [];
  const rows: [string, string, number, number, number, string][] = [];
  let short = 0;
  for (const { baseline, dropped: reason } of selection.results(tasks)) {
    const { task_id, successes, rollouts: seen, errors } = baseline;
    const task = tasks.get(task_id);
    // A task file knows its domain; rollouts that came from elsewhere may not.
    const domain = task?.domain ?? baseline.domain;
    rows.push([task_id, domain, successes, seen, errors, reason ?? 'kept']);
    if (seen < rollouts) short += 1;
    const event = { task_id, domain, successes, rollouts: seen, errors };
    if (reason !== null) {
      dropped[reason] += 1;
      await output.write({ type: 'event', v: SCHEMA_VERSION, event: 'task_dropped', reason, ...event });
      continue;
    }
    kept.push({ task_id, domain, known: task !== undefined });
    await output.write(task ?? { type: 'event', v: SCHEMA_VERSION, event: 'task_selected', ...event });
  }
  await writeList(context, kept);
  const numbers = { tasks: rows.length, kept: kept.length, dropped, short_baselines: short };
  const summary = { ...numbers, skipped_records: skipped.count };
  await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-curate select-tasks', ...summary });
  await output.close();
  if (logOf(context).shows('info')) await printTable(context.io, HEAD, rows);
  tell(context, { kept: kept.length, tasks: rows.length, short, rollouts, unknown: kept.some(({ known }) => !known) });
  if (skipped.count > 0) return EXIT.failure;
  return kept.length > 0 ? EXIT.ok : EXIT.negative;
}

/** The tasks that `--tasks` names. */
async function readGivenTasks(context: CommandContext, tasks: Map<string, Task>): Promise<Skipped> {
  const skipped: Skipped = { count: 0 };
  const given = context.options.tasks as string | undefined;
  if (given === undefined) return skipped;
  const onBad = (error: unknown) => skipRecord(context, skipped, error);
  for await (const task of loadTasks(resolvePath(context.io, given), {}, { onBad })) tasks.set(task.task_id, task);
  return skipped;
}

async function readBaseline(
  context: CommandContext,
  selection: TaskSelection,
  tasks: Map<string, Task>,
  skipped: Skipped,
  write: (record: { type: string }) => Promise<void>,
): Promise<void> {
  const state = reading(async (record) => {
    if (record.type !== 'task') return write(record);
    // Tasks are held back: only those that are kept go on.
    const task = parseRecord('task', record, 'a task record of the input');
    tasks.set(task.task_id, task);
  });
  state.skipped = skipped;
  for await (const { task_id, domain, reward } of readTrajectories(context, 'select-tasks', state)) {
    selection.count(task_id, domain, reward);
  }
}

/** A meta list as OSWorld has them, `{domain: [ids]}`, which `--tasks` takes beside the task files. */
async function writeList(
  { options, io }: CommandContext,
  kept: readonly { task_id: string; domain: string }[],
): Promise<void> {
  const path = options.list as string | undefined;
  if (path === undefined || kept.length === 0) return;
  const list: Record<string, string[]> = {};
  for (const { task_id, domain } of kept) list[domain] = [...(list[domain] ?? []), task_id];
  await writeWhole(resolvePath(io, path), `${JSON.stringify(list, null, 2)}\n`);
}

interface Told {
  kept: number;
  tasks: number;
  short: number;
  rollouts: number;
  unknown: boolean;
}

function tell(context: CommandContext, { kept, tasks, short, rollouts, unknown }: Told): void {
  const log = logOf(context);
  log.info(`kept ${kept} of ${tasks} tasks`);
  // Of a stream without trajectories its reader has told.
  if (tasks === 0 && context.options.store !== undefined)
    log.warn('no rollout is stored. Try: dart-rollout --tasks DIR -n 16 --store …');
  if (short > 0)
    log.warn(`${short} tasks have fewer than ${rollouts} scored rollouts. Try: dart-rollout -n ${rollouts}`);
  if (!unknown) return;
  const blind = context.options['exclude-infeasible'] === true ? ', so infeasible ones cannot be told' : '';
  log.warn(
    `some tasks are only known by their ids${blind}; they are task_selected events. Try: --tasks DIR, --list FILE`,
  );
}
