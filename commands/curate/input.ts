import { checkInputs, leaveOut, openInput, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { NoInput } from '../../lib/cli/usage.ts';
import { recordRejected } from '../../lib/curation/events.ts';
import type { DartError } from '../../lib/errors.ts';
import { followFile } from '../../lib/stream/follow.ts';
import { type ByteSource, type ReadOptions, type ReadRecord, readBatches } from '../../lib/stream/reader.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';

/** Records that were left out because of `--on-error skip`. */
export interface Skipped {
  count: number;
}

/** The records of all inputs, those of one chunk at a time; with `--follow` the last file is read on as it grows. */
export async function* inputBatches(
  context: CommandContext,
  skipped: Skipped,
): AsyncGenerator<ReadRecord[], void, void> {
  const { io, options, positionals } = context;
  if (positionals.length === 0 && (io.stdin as { isTTY?: boolean }).isTTY) throw new NoInput();
  const paths = positionals.length === 0 ? ['-'] : positionals;
  await checkInputs(paths, io);
  for (const [index, path] of paths.entries()) {
    const follow = options.follow === true && path !== '-' && index === paths.length - 1;
    const { stream, name } = await source(context, path, follow);
    yield* partBatches(context, stream, { path: name, lines: 0 }, skipped);
  }
}

/**
 * The records of a file or a part of one; in place of bad lines, with `--on-error skip`, the events that say so.
 * @param part `lines` is how many lines stand before it in the file.
 */
export async function* partBatches(
  context: CommandContext,
  bytes: ByteSource,
  part: { path: string; lines: number },
  skipped: Skipped,
): AsyncGenerator<ReadRecord[], void, void> {
  let rejected: ReadRecord[] = [];
  const options: ReadOptions = {
    name: part.path,
    firstLine: part.lines + 1,
    keepBytes: true,
    command: context.called,
    onError: context.options['on-error'] === 'skip' ? 'skip' : 'fail',
    onSkip: (error) => {
      rejected.push(inPlaceOf(error, skipRecord(context, skipped, error)));
    },
  };
  for await (const batch of readBatches(bytes, options)) {
    yield rejected.length === 0 ? batch : [...batch, ...rejected].sort((a, b) => a.line - b.line);
    rejected = [];
  }
  if (rejected.length > 0) yield rejected;
}

/**
 * What a bad record does: ends the command, or with `--on-error skip` is told and counted.
 * @returns the event that stands in its place.
 */
export function skipRecord(context: CommandContext, skipped: Skipped, error: unknown): AnyRecord {
  leaveOut(context, skipped, error);
  return recordRejected(error);
}

/** A bad line is known before the lines above it have been curated: its event has to wait for its place. */
function inPlaceOf(error: DartError, event: AnyRecord): ReadRecord {
  const where = error.where ?? '';
  return { line: Number(where.slice(where.lastIndexOf(':') + 1)), record: event, where };
}

async function source(
  context: CommandContext,
  path: string,
  follow: boolean,
): Promise<{ stream: ByteSource; name: string }> {
  const { io } = context;
  if (!follow) return openInput(path, io);
  const onCut = (message: string) => logOf(context).warn(message);
  return { stream: followFile(resolvePath(io, path), io.signal, { onCut }), name: path };
}
