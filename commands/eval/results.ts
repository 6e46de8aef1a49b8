import { readInputs } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { Result, Summary } from '../../lib/stream/records.ts';

/** What an evaluation wrote. */
export interface Results {
  results: Result[];
  /** How it was measured; null in a file without a summary. */
  summary: Summary | null;
}

/** The records of an evaluation. @throws DartError where there is no result, and for a task that has two. */
export async function readResults(context: CommandContext, path: string): Promise<Results> {
  const found = new Map<string, Result>();
  let summary: Summary | null = null;
  for await (const { record, where } of readInputs(context, [path])) {
    if (record.type === 'summary') summary = parseRecord('summary', record, where);
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
  return { results: [...found.values()], summary };
}
