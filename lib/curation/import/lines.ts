import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { DartError } from '../../errors.ts';
import { refuseCompressed } from '../../stream/compressed.ts';
import { fileError } from '../../stream/errno.ts';
import { adviceOnLine } from '../../stream/json.ts';
import { LineSplitter, type SplitLine } from '../../stream/lines.ts';
import { MAX_LINE_BYTES } from '../../stream/reader.ts';

export interface JsonLine {
  value: Record<string, unknown>;
  /** `name:line`. */
  where: string;
}

/** A line that its writer did not finish, at the end of the file. */
export type TornLine = { torn: string };

/**
 * The JSON objects of a file, one a line, whether or not they have a `type`. What `onBad` does not throw is left out.
 * A last line without its end is handed out as `torn`, since a run that was killed leaves one.
 */
export async function* jsonLines(
  path: string,
  name: string,
  onBad: (error: unknown) => void,
): AsyncGenerator<JsonLine | TornLine, void, void> {
  const splitter = new LineSplitter(MAX_LINE_BYTES);
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
      yield* parsed(splitter.push(chunk as Buffer), name, onBad);
    }
  } catch (error) {
    throw fileError(error, 'read', name);
  }
  yield* parsed(splitter.end(), name, onBad);
}

function* parsed(
  lines: Iterable<SplitLine>,
  name: string,
  onBad: (error: unknown) => void,
): Generator<JsonLine | TornLine, void, void> {
  for (const split of lines) {
    const where = `${name}:${split.line}`;
    if (split.line === 1 && split.bytes) refuseCompressed(split.bytes, name);
    try {
      const value = parseLine(split, where);
      if (value === null) continue;
      yield value === 'torn' ? { torn: where } : { value, where };
    } catch (error) {
      onBad(error);
    }
  }
}

/** The object; null for a blank line. */
function parseLine({ bytes, limit, unfinished }: SplitLine, where: string): Record<string, unknown> | 'torn' | null {
  if (bytes === null) {
    const hint = 'screenshots as files, never inside a line';
    throw new DartError(`the line is longer than ${limit} bytes`, { where, hint });
  }
  if (!isUtf8(bytes)) {
    if (unfinished) return 'torn';
    throw new DartError('the line is not UTF-8', { where, hint: 'iconv -t UTF-8' });
  }
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (unfinished) return 'torn';
    throw new DartError(`not JSON: ${(error as Error).message}`, { where, hint: adviceOnLine(text), cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new DartError('expected a JSON object', { where, hint: 'a line such as {"task_id":"…","steps":[…]}' });
}
