import { resolvePath } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import type { TaskFacts } from '../../lib/curation/import/importer.ts';
import { DartError } from '../../lib/errors.ts';
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
  const path = resolvePath(context.io, given);
  const onBad = (error: unknown) => skipRecord(context, skipped, asGiven(error, path, given));
  try {
    for await (const task of loadTasks(path, {}, { onBad })) {
      const { domain, instruction } = task;
      facts.set(task.id, { domain, instruction }).set(task.task_id, { domain, instruction });
    }
  } catch (error) {
    throw asGiven(error, path, given);
  }
  return facts;
}

/** The error with the folder named as the command line does. */
function asGiven(error: unknown, path: string, given: string): unknown {
  if (!(error instanceof DartError) || !error.where?.startsWith(path)) return error;
  const { message, hint, exitCode, cause } = error;
  return new DartError(message, { where: given + error.where.slice(path.length), hint, exitCode, cause });
}
