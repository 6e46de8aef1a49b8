import { readInputs, resolvePath } from '../../lib/cli/input.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { EXIT } from '../../lib/errors.ts';
import { filterTasks, loadTasks, type TaskFilter } from '../../lib/osworld/load.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { AnyRecord, Task } from '../../lib/stream/records.ts';

/** Prints the tasks that the filters leave, then a summary. */
export async function run(context: CommandContext): Promise<number> {
  const output = await openOutput(context);
  const domains = new Map<string, number>();
  let count = 0;
  for await (const task of chosen(context, output.write.bind(output))) {
    context.io.signal.throwIfAborted();
    count += 1;
    domains.set(task.domain, (domains.get(task.domain) ?? 0) + 1);
    if (context.options['dry-run'] !== true) await output.write(task);
  }
  await output.write({ type: 'summary', v: 1, command: 'dart-env tasks', tasks: count, domains: domains.size });
  await output.close();
  if (context.options.table === true) await printTable(context.io, ['domain', 'tasks'], rowsOf(domains, count));
  return EXIT.ok;
}

function rowsOf(domains: Map<string, number>, count: number): [string, number][] {
  return [...[...domains].sort(([a], [b]) => a.localeCompare(b)), ['all', count]];
}

async function* chosen(context: CommandContext, passOn: (record: AnyRecord) => Promise<void>): AsyncGenerator<Task> {
  const from = String(context.options.from);
  const filter = filterOf(context);
  if (from !== '-') yield* loadTasks(resolvePath(context.io, from), filter);
  else yield* await filterTasks(await readTasks(context, passOn), filter, 'stdin');
}

/** Tasks from standard input; what is no task goes through at once. */
async function readTasks(context: CommandContext, passOn: (record: AnyRecord) => Promise<void>): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const { record, where } of readInputs(context, ['-'])) {
    if (record.type === 'task') tasks.push(parseRecord('task', record, where));
    else await passOn(record);
  }
  return tasks;
}

function filterOf({ options, io }: CommandContext): TaskFilter {
  return {
    domains: options.domain as string[] | undefined,
    ids: options.id as string[] | undefined,
    meta: typeof options.meta === 'string' ? resolvePath(io, options.meta) : undefined,
    sample: options.sample as number | undefined,
    seed: options.seed as number | undefined,
  };
}
