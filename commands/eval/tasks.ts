import { readInputs, resolvePath, skipping } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import { filterTasks, loadTasks } from '../../lib/osworld/load.ts';
import { normaliseTask } from '../../lib/osworld/task.ts';
import type { Task } from '../../lib/stream/records.ts';
import { filterOf } from '../task_filter.ts';

/**
 * The tasks of a file, a folder or standard input (`-`) that the filters leave.
 * @throws DartError for what is wrong with one (with `--on-error skip` it is left out and counted), and for a task that
 *   comes twice.
 */
export async function tasksOf(
  context: CommandContext,
  source: string,
  skipped: { count: number } = { count: 0 },
): Promise<Task[]> {
  const filter = filterOf(context);
  if (source === '-') {
    const tasks = await tasksOfStream(context, skipped);
    return filterTasks(tasks, filter, 'stdin');
  }
  const tasks: Task[] = [];
  const onBad = skipping(context, skipped);
  for await (const task of loadTasks(resolvePath(context.io, source), filter, { onBad })) tasks.push(task);
  return tasks;
}

async function tasksOfStream(context: CommandContext, skipped: { count: number }): Promise<Task[]> {
  const tasks = new Map<string, Task>();
  for await (const { record, where } of readInputs(context, ['-'], skipped)) {
    if (record.type !== 'task') continue;
    const task = normaliseTask(record, where);
    if (tasks.has(task.task_id)) {
      throw new DartError(`task ${task.task_id} came before`, {
        where,
        hint: 'each task once; --repeats N runs it N times',
      });
    }
    tasks.set(task.task_id, task);
  }
  if (tasks.size === 0)
    throw new DartError('no task record', { where: 'stdin', hint: 'dart-env tasks --from DIR | …' });
  return [...tasks.values()];
}
