import { isUtf8 } from 'node:buffer';
import { DartError } from '../errors.ts';
import { refuseCompressed } from './compressed.ts';
import { fileError } from './errno.ts';
import { adviceOnLine } from './json.ts';
import { LineSplitter, type SplitLine } from './lines.ts';
import type { AnyRecord } from './records.ts';

export const MAX_LINE_BYTES = 64 * 1024 * 1024;

export interface ReadOptions {
  /** Name of the input in messages: a path, or `stdin`. */
  name: string;
  /** Longest line in bytes. Default 64 MiB. */
  maxLineBytes?: number;
  /**
   * What a bad line does: end the stream with an error (default), or be left out and reported to `onSkip`. Where it is
   * given, a person chose it by `--on-error`, and is told of the other choice.
   */
  onError?: 'fail' | 'skip';
  onSkip?: (error: DartError) => void;
  /** Number of the first line, where reading begins inside a file. Default 1. */
  firstLine?: number;
  /** Hand out the bytes of each line, too. */
  keepBytes?: boolean;
  /** The command that reads, with its subcommands, for advice; absent where it could not read this from a pipe. */
  command?: string;
}

export interface ReadRecord {
  /** Counted from 1, blank lines included. */
  line: number;
  record: AnyRecord;
  /** `name:line`, for messages. */
  where: string;
  /** With `keepBytes`: the line as it came, without its newline; a view into the chunk that it came in. */
  bytes?: Uint8Array;
}

export type ByteSource = AsyncIterable<Uint8Array | string>;

/**
 * The records of an NDJSON stream, in order. A byte-order mark, CRLF, blank lines, characters split between chunks and a
 * last line without newline are all taken; anything else that is not a JSON object with a `type` is a bad line.
 * @throws DartError `name:line: reason` for a bad line (unless `onError` is `skip`), or for input that cannot be read or
 *   is compressed.
 */
export function readRecords(input: ByteSource, options: ReadOptions): AsyncIterableIterator<ReadRecord, void, void> {
  return oneByOne(readBatches(input, options));
}

/** By hand, since an async generator costs three promises an item where one does. */
function oneByOne(batches: AsyncGenerator<ReadRecord[], void, void>): AsyncIterableIterator<ReadRecord, void, void> {
  let batch: ReadRecord[] = [];
  let index = 0;
  const refill = async (): Promise<IteratorResult<ReadRecord, void>> => {
    const next = await batches.next();
    if (next.done) return { done: true, value: undefined };
    batch = next.value;
    index = 1;
    return { done: false, value: batch[0]! };
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      const value = batch[index];
      if (value === undefined) return refill();
      index += 1;
      return Promise.resolve({ done: false, value });
    },
    async return() {
      batch = [];
      await batches.return();
      return { done: true, value: undefined };
    },
  };
}

/**
 * As `readRecords`, but all records of one chunk of input at a time: a third faster where lines are short.
 * Records before a bad line are handed out before its error is thrown.
 */
export async function* readBatches(input: ByteSource, options: ReadOptions): AsyncGenerator<ReadRecord[], void, void> {
  const splitter = new LineSplitter(options.maxLineBytes ?? MAX_LINE_BYTES, options.firstLine);
  for await (const chunk of guarded(input, options.name)) {
    yield* parsed(splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk), options);
  }
  yield* parsed(splitter.end(), options);
}

/** The input, with the system's errors said in words. */
async function* guarded(input: ByteSource, name: string): AsyncGenerator<Uint8Array | string, void, void> {
  try {
    yield* input;
  } catch (error) {
    throw fileError(error, 'read', name);
  }
}

function* parsed(lines: Iterable<SplitLine>, options: ReadOptions): Generator<ReadRecord[], void, void> {
  let batch: ReadRecord[] = [];
  for (const split of lines) {
    const where = `${options.name}:${split.line}`;
    // No line of it can be read, so there is nothing to leave out.
    if (split.line === 1 && split.bytes) refuseCompressed(split.bytes, options.name, options.command);
    try {
      const record = parseLine(split, where, options);
      if (record === null) continue;
      const read: ReadRecord = { line: split.line, record, where };
      if (options.keepBytes && split.bytes) read.bytes = split.bytes;
      batch.push(read);
    } catch (error) {
      if (!(error instanceof DartError)) throw error;
      // First what came before it, of which its reader may complain too: complaints come in the order of the lines.
      if (batch.length > 0) yield batch;
      if (options.onError !== 'skip') throw error;
      batch = [];
      options.onSkip?.(error);
    }
  }
  if (batch.length > 0) yield batch;
}

/** The record of one line; null for a blank one. */
function parseLine(split: SplitLine, where: string, options: ReadOptions): AnyRecord | null {
  if (split.bytes === null) {
    throw new DartError(`the line is longer than ${split.limit} bytes`, {
      where,
      hint: 'screenshots as files (--blobs DIR), never inside a record',
    });
  }
  if (!isUtf8(split.bytes)) throw new DartError('the line is not UTF-8', { where, hint: 'iconv -t UTF-8' });
  const text = textOf(split.bytes);
  const value = parseJson(text, where, { unfinished: split.unfinished, maySkip: options.onError === 'fail' });
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DartError(`expected a JSON object but received ${nameOf(value)}`, { where, hint: filterFor(value) });
  }
  if (typeof (value as AnyRecord).type !== 'string') {
    throw new DartError('the record has no "type"', { where, hint: 'a line such as {"type":"task","v":1,…}' });
  }
  return value as AnyRecord;
}

function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 3 : 0;
  return buffer.toString('utf8', start);
}

/**
 * The value, or undefined where there is only white space.
 * @param line `unfinished` where the input ended within it, `maySkip` where a person could have it left out.
 */
function parseJson(text: string, where: string, line: { unfinished: boolean; maySkip: boolean }): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.trim() === '') return undefined;
    if (line.unfinished) {
      const skip = line.maySkip ? ', or --on-error skip' : '';
      throw new DartError('the last line is cut short', { where, hint: `let its writer end${skip}` });
    }
    const skip = line.maySkip ? '--on-error skip, which leaves it out' : undefined;
    throw new DartError(`not JSON: ${(error as Error).message}`, { where, hint: adviceOnLine(text) ?? skip });
  }
}

/** What in front of the command makes records of such lines. */
function filterFor(value: unknown): string {
  if (value === null) return "jq -c 'values', which drops null lines";
  return Array.isArray(value)
    ? "jq -c '.[]', which gives each item a line"
    : "jq -c 'objects', which keeps records only";
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
