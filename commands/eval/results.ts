import { readInputs } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { Result } from '../../lib/stream/records.ts';

/** The result records of a file. @throws DartError where there is none, and for a task that has two. */
export async function readResults(context: CommandContext, path: string): Promise<Result[]> {
  const found = new Map<string, Result>();
  for await (const { record, where } of readInputs(context, [path])) {
    if (record.type !== 'result') continue;
    const result = parseRecord('result', record, where);
    if (found.has(result.task_id)) {
      throw new DartError(`task ${result.task_id} has a second result`, {
        where,
        hint: 'the results of one evaluation',
      });
    }
    found.set(result.task_id, result);
  }
  if (found.size === 0) throw new DartError('no result record', { where: path, hint: 'a file that dart-eval wrote' });
  return [...found.values()];
}
