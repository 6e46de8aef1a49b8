import { basename } from 'node:path';
import { readInputs, resolvePath, skipping } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import { filterTasks, loadTasks, SecondTask } from '../../lib/osworld/load.ts';
import { normaliseTask } from '../../lib/osworld/task.ts';
import type { Task } from '../../lib/stream/records.ts';
import { filterOf } from '../task_filter.ts';

/** What `--on-error skip` left out. */
export interface Skipped {
  count: number;
  /** Tasks among it, which nobody could read, by their file's name; those that the filters would leave out are not here. */
  tasks?: { task_id: string; domain: string; reason: string }[];
}

/**
 * The tasks of a file, a folder or standard input (`-`) that the filters leave.
 * @throws DartError for what is wrong with one (with `--on-error skip` it is left out and counted), and for a task that
 *   comes twice.
 */
export async function tasksOf(
  context: CommandContext,
  source: string,
  skipped: Skipped = { count: 0 },
): Promise<Task[]> {
  const filter = filterOf(context);
  if (source === '-') {
    const tasks = await tasksOfStream(context, skipped);
    return filterTasks(tasks, filter, 'stdin');
  }
  const tasks: Task[] = [];
  const skip = skipping(context, skipped);
  const onBad =
    skip &&
    ((error: DartError) => {
      skip(error);
      if (error instanceof SecondTask) return;
      const task = unreadable(error);
      if (filter.domains?.includes(task.domain) ?? true) skipped.tasks?.push(task);
    });
  for await (const task of loadTasks(resolvePath(context.io, source), filter, { onBad })) tasks.push(task);
  return tasks;
}

async function tasksOfStream(context: CommandContext, skipped: Skipped): Promise<Task[]> {
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

/** OSWorld's files are `<domain>/<id>.json`; a line of another file has its place for a name. */
function unreadable(error: DartError): { task_id: string; domain: string; reason: string } {
  const where = error.where ?? 'a task';
  const [, domain, id] = /([^/]+)\/([^/]+)\.json(?::\d+)?$/.exec(where) ?? [];
  return { task_id: id ?? basename(where), domain: domain ?? 'unknown', reason: `cannot be read: ${error.message}` };
}
