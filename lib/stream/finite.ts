import { DartError } from '../errors.ts';
import { formatPath } from './path.ts';

/** JSON has no NaN and no infinities: `JSON.stringify` makes them null, without a word. */
export interface NotFinite {
  path: PropertyKey[];
  value: number;
}

/** The first number in the value that is NaN or infinite, with the way to it; null where all are finite. */
export function findNotFinite(value: unknown): NotFinite | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : { path: [], value };
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return findInArray(value);
  for (const key in value) {
    const found = findNotFinite((value as Record<string, unknown>)[key]);
    if (found) return { path: [key, ...found.path], value: found.value };
  }
  return null;
}

function findInArray(list: readonly unknown[]): NotFinite | null {
  for (let i = 0; i < list.length; i++) {
    const found = findNotFinite(list[i]);
    if (found) return { path: [i, ...found.path], value: found.value };
  }
  return null;
}

/** An escape of JSON: half a surrogate pair, which `JSON.stringify` writes as `\udXXX`, or any other. */
const ESCAPE = /\\(?:ud[89a-f][0-9a-f]{2}|[\s\S])/g;

/**
 * JSON that other tools read, too: half a surrogate pair is no character and jq refuses the whole stream for it, so it
 * becomes U+FFFD, as in `toWellFormed`. The text is walked only where it has one.
 */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return text.replace(ESCAPE, (found) => (found.length > 2 ? '\ufffd' : found));
}

/**
 * One line of JSON, without newline, `type` first. A number that is not finite can only hide behind a `null` of the
 * text, so the record is walked only where there is one.
 * @param text It, where it was made already: as `wellFormedJson` makes it of a record that begins with its type.
 * @throws DartError naming the field that holds NaN or an infinity.
 */
export function recordLine(record: { type: string }, text = wellFormedJson(typeFirst(record))): string {
  if (!text.includes('null')) return text;
  const found = findNotFinite(record);
  if (!found) return text;
  throw new DartError(`the ${record.type} record has ${found.value} in ${formatPath(found.path)}`, {
    hint: 'null for a number that is not known',
  });
}

function typeFirst(record: { type: string; v?: unknown }): object {
  for (const key in record) {
    if (key === 'type') return record;
    break;
  }
  const { type, v, ...rest } = record;
  return v === undefined ? { type, ...rest } : { type, v, ...rest };
}
