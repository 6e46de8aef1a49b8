import { createReadStream } from 'node:fs';
import { access, constants, open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { DartError } from '../errors.ts';
import { fileError } from '../stream/errno.ts';
import { type ReadRecord, readRecords } from '../stream/reader.ts';
import { logOf } from './log.ts';
import type { CommandContext, Io } from './spec.ts';
import { NoInput } from './usage.ts';

export interface Input {
  stream: Readable;
  /** For messages: the path as given, or `stdin`. */
  name: string;
}

/** A path of the command line, from the command's folder. */
export function resolvePath(io: Pick<Io, 'cwd'>, path: string): string {
  return resolve(io.cwd, path);
}

/**
 * A file to read, or standard input for `-`. It ends with the signal's reason when the command is stopped.
 * @throws DartError where the file cannot be opened.
 */
export async function openInput(path: string, io: Io): Promise<Input> {
  if (path === '-') return { stream: stoppable(io.stdin, io), name: 'stdin' };
  try {
    const handle = await open(resolvePath(io, path), 'r');
    if ((await handle.stat()).isDirectory()) {
      await handle.close();
      throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
    }
    const stream = createReadStream('', { fd: handle, highWaterMark: 1 << 20 });
    return { stream: stoppable(stream, io), name: path };
  } catch (error) {
    throw fileError(error, 'read', path);
  }
}

/**
 * That all of the files are there and can be read, before hours of work go into the first of them.
 * @throws DartError naming the first that cannot.
 */
export async function checkInputs(paths: readonly string[], io: Pick<Io, 'cwd'>): Promise<void> {
  for (const path of paths.filter((name) => name !== '-')) {
    try {
      const file = resolvePath(io, path);
      await access(file, constants.R_OK);
      if ((await stat(file)).isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
    } catch (error) {
      throw fileError(error, 'read', path);
    }
  }
}

/**
 * The records of the files that the command line names, one file after another; without a file those of standard input.
 * Bad lines end the command, or with `--on-error skip` are told and counted in `skipped`.
 * @throws NoInput where there is no file and standard input is a terminal.
 */
export async function* readInputs(
  context: CommandContext,
  paths: readonly string[] = context.positionals,
  skipped: { count: number } = { count: 0 },
): AsyncGenerator<ReadRecord, void, void> {
  const { io, options } = context;
  if (paths.length === 0 && (io.stdin as { isTTY?: boolean }).isTTY) throw new NoInput();
  await checkInputs(paths, io);
  for (const path of paths.length === 0 ? ['-'] : paths) {
    const { stream, name } = await openInput(path, io);
    yield* readRecords(stream, {
      name,
      onError: options['on-error'] as 'fail' | 'skip' | undefined,
      onSkip: skipping(context, skipped),
      // What an option names cannot come from the pipe instead.
      command: path === '-' || context.positionals.includes(path) ? context.called : undefined,
    });
  }
}

/** With `--on-error skip`: tells of what is left out, and counts it in `skipped`. Undefined without. */
export function skipping(
  context: CommandContext,
  skipped: { count: number },
): ((error: DartError) => void) | undefined {
  if (context.options['on-error'] !== 'skip') return undefined;
  return (error) => {
    skipped.count += 1;
    logOf(context).warnOften('records left out', `left out: ${error.describe()}`);
  };
}

/**
 * What a bad record does: ends the command, or with `--on-error skip` is told and counted in `skipped`.
 * @param error what is wrong with it; what is no DartError is a fault of ours and ends the command always
 */
export function leaveOut(
  context: CommandContext,
  skipped: { count: number },
  error: unknown,
): asserts error is DartError {
  const skip = skipping(context, skipped);
  if (skip === undefined || !(error instanceof DartError)) throw error;
  skip(error);
}

/** What `read` makes of a record that came; null for a bad one that is left out. @throws what `leaveOut` does. */
export function orLeftOut<T>(context: CommandContext, skipped: { count: number }, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    leaveOut(context, skipped, error);
    return null;
  }
}

function stoppable(stream: Readable, io: Io): Readable {
  return addAbortSignal(io.signal, stream);
}
