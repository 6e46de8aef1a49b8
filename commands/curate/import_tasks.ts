import { resolvePath } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import type { TaskFacts } from '../../lib/curation/import/importer.ts';
import { loadTasks } from '../../lib/osworld/load.ts';
import { type Skipped, skipRecord } from './input.ts';

/** Instruction and domain of the tasks in `--task-dir`, by their ids; null without it. */
export async function readTaskFacts(
  context: CommandContext,
  skipped: Skipped,
): Promise<ReadonlyMap<string, TaskFacts> | null> {
  const given = context.options['task-dir'] as string | undefined;
  if (given === undefined) return null;
  const facts = new Map<string, TaskFacts>();
  const onBad = (error: unknown) => skipRecord(context, skipped, error);
  for await (const task of loadTasks(resolvePath(context.io, given), {}, { onBad })) {
    const { domain, instruction } = task;
    facts.set(task.id, { domain, instruction }).set(task.task_id, { domain, instruction });
  }
  return facts;
}
