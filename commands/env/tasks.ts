import { orLeftOut, readInputs, resolvePath, skipping } from '../../lib/cli/input.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { EXIT } from '../../lib/errors.ts';
import { filterTasks, loadTasks } from '../../lib/osworld/load.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { AnyRecord, Task } from '../../lib/stream/records.ts';
import { filterOf } from '../task_filter.ts';

/** Prints the tasks that the filters leave, then a summary. */
export async function run(context: CommandContext): Promise<number> {
  const output = await openOutput(context);
  const domains = new Map<string, number>();
  const skipped = { count: 0 };
  let count = 0;
  for await (const task of chosen(context, skipped, output.write.bind(output))) {
    context.io.signal.throwIfAborted();
    count += 1;
    domains.set(task.domain, (domains.get(task.domain) ?? 0) + 1);
    if (context.options['dry-run'] !== true) await output.write(task);
  }
  const numbers = { tasks: count, domains: domains.size, skipped: skipped.count };
  await output.write({ type: 'summary', v: 1, command: 'dart-env tasks', ...numbers });
  await output.close();
  if (context.options.table === true) await printTable(context.io, ['domain', 'tasks'], rowsOf(domains, count));
  return skipped.count > 0 ? EXIT.failure : EXIT.ok;
}

function rowsOf(domains: Map<string, number>, count: number): [string, number][] {
  return [...[...domains].sort(([a], [b]) => a.localeCompare(b)), ['all', count]];
}

type PassOn = (record: AnyRecord) => Promise<void>;

async function* chosen(context: CommandContext, skipped: { count: number }, passOn: PassOn): AsyncGenerator<Task> {
  const from = String(context.options.from);
  const filter = filterOf(context);
  const onBad = skipping(context, skipped);
  if (from !== '-') yield* loadTasks(resolvePath(context.io, from), filter, { onBad });
  else yield* await filterTasks(await readTasks(context, skipped, passOn), filter, 'stdin');
}

/** Tasks from standard input; what is no task goes through at once. */
async function readTasks(context: CommandContext, skipped: { count: number }, passOn: PassOn): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const { record, where } of readInputs(context, ['-'], skipped)) {
    if (record.type !== 'task') {
      await passOn(record);
      continue;
    }
    const task = orLeftOut(context, skipped, () => parseRecord('task', record, where));
    if (task !== null) tasks.push(task);
  }
  return tasks;
}
