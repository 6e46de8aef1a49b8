import { readInputs, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { NoInput } from '../../lib/cli/usage.ts';
import { DartError } from '../../lib/errors.ts';
import { filterTasks, loadTasks, type TaskFilter } from '../../lib/osworld/load.ts';
import { normaliseTask } from '../../lib/osworld/task.ts';
import type { ReadRecord } from '../../lib/stream/reader.ts';
import type { AnyRecord, Task } from '../../lib/stream/records.ts';

export interface RolloutInput {
  tasks: Task[];
  /** Records that were left out (`--on-error skip`). */
  skipped: number;
}

/**
 * The tasks, from a file, a folder, or standard input (`-`), whose records of other types go to `pass`.
 * @throws DartError for bad lines (unless `--on-error skip`), unknown tasks, and when there is no task at all.
 */
export async function readTasks(
  context: CommandContext,
  filter: TaskFilter,
  pass: (record: AnyRecord) => Promise<void>,
): Promise<RolloutInput> {
  const path = context.options.tasks as string;
  if (path !== '-') return { tasks: await fromPath(resolvePath(context.io, path), filter), skipped: 0 };
  if ((context.io.stdin as { isTTY?: boolean }).isTTY) throw new NoInput();
  const { tasks, skipped } = await readStdin(context, pass);
  if (tasks.length > 0) return { tasks: await filterTasks(tasks, filter, 'stdin'), skipped };
  throw new DartError('no task record came', {
    where: 'stdin',
    hint: '--tasks DIR, or dart-env tasks … | dart-rollout',
  });
}

async function fromPath(path: string, filter: TaskFilter): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of loadTasks(path, filter)) tasks.push(task);
  return tasks;
}

async function readStdin(context: CommandContext, pass: (record: AnyRecord) => Promise<void>): Promise<RolloutInput> {
  const log = logOf(context);
  const skipped = { count: 0 };
  const tasks = new Map<string, Task>();
  for await (const found of readInputs(context, ['-'], skipped)) {
    if (found.record.type !== 'task') {
      await pass(found.record);
      continue;
    }
    try {
      addTask(found, tasks);
    } catch (error) {
      if (context.options['on-error'] !== 'skip' || !(error instanceof DartError)) throw error;
      skipped.count += 1;
      log.warn(`left out: ${error.describe()}`);
    }
  }
  return { tasks: [...tasks.values()], skipped: skipped.count };
}

function addTask({ record, where }: ReadRecord, tasks: Map<string, Task>): void {
  const task = normaliseTask(record, where);
  if (tasks.has(task.task_id)) throw new DartError(`task ${task.task_id} came before`, { where });
  tasks.set(task.task_id, task);
}
