import { readInputs, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { followFile } from '../../lib/stream/follow.ts';
import { type ReadRecord, readRecords } from '../../lib/stream/reader.ts';

/** Where bad lines go: throws, or counts them. */
export interface BadLines {
  count: number;
  take(error: unknown): void;
}

/**
 * The records that the command line names, one file after another; with `--follow` the last file is read on as it grows.
 * Standard input ends when its writer does, `--follow` or not.
 */
export async function* readTrainingInput(
  context: CommandContext,
  signal: AbortSignal,
  bad: BadLines,
): AsyncGenerator<ReadRecord, void, void> {
  const { positionals, options } = context;
  const last = positionals.at(-1);
  const grows = options.follow === true && last !== undefined && last !== '-';
  if (!grows || positionals.length > 1) {
    yield* readInputs(context, grows ? positionals.slice(0, -1) : positionals, bad);
  }
  if (!grows) return;
  const onError = options['on-error'] === 'skip' ? 'skip' : 'fail';
  const growing = followFile(resolvePath(context.io, last), signal, {
    onCut: (message) => logOf(context).warn(message),
  });
  yield* readRecords(growing, { name: last, onError, onSkip: (error) => bad.take(error), command: context.called });
}
