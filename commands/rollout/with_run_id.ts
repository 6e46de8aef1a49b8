import { DartError } from '../../lib/errors.ts';
import { KeptInFile, StoreTrouble } from '../../lib/store/index.ts';

/** The error; where the store was in trouble, its hint says also how the next command goes on with this run. */
export function withRunId(error: unknown, runId: string): unknown {
  if (!(error instanceof KeptInFile || error instanceof StoreTrouble)) return error;
  const { message, where, exitCode } = error;
  const hint = [error.hint, `with --run-id ${runId} it goes on with this run`].filter(Boolean).join('; ');
  return new DartError(message, { where, hint, exitCode, cause: error });
}
