import type { CommandContext } from '../../lib/cli/spec.ts';
import type { TaskSelection } from '../../lib/curation/task_selection.ts';
import { DartError } from '../../lib/errors.ts';
import { storedTaskRecords, taskBaselines } from '../../lib/store/baselines.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { Task } from '../../lib/stream/records.ts';
import { storeToRead } from './store.ts';

/** The baseline from the store, and what it knows of the tasks (those that were given are not changed). */
export async function storedBaseline(
  context: CommandContext,
  selection: TaskSelection,
  tasks: Map<string, Task>,
): Promise<void> {
  const { options, positionals } = context;
  if (positionals.length > 0) {
    throw new DartError('--store and files exclude each other: the rollouts come from one of them', {
      hint: 'dart-curate select-tasks --store URL',
    });
  }
  const store = await storeToRead(context);
  try {
    const runId = options['run-id'] as string | undefined;
    const met = new Set<string>();
    for await (const { task_id, domain, reward } of taskBaselines(store, runId)) {
      met.add(task_id);
      selection.count(task_id, domain, reward);
    }
    for await (const record of storedTaskRecords(store)) {
      const task = parseRecord('task', record, 'a task of the store');
      if (met.has(task.task_id) && !tasks.has(task.task_id)) tasks.set(task.task_id, task);
    }
  } finally {
    await store.close();
  }
}
