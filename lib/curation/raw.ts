import type { Trajectory } from '../stream/records.ts';

/** From, and up to but not including: bytes of a line. */
export interface Span {
  start: number;
  end: number;
}

const lines = new WeakMap<Trajectory, Uint8Array>();

/**
 * Remembers the line that a trajectory came in, for as long as the trajectory lives: its steps are copied from there
 * into the samples, which is ten times faster than writing their numbers anew.
 */
export function keepLine(trajectory: Trajectory, line: Uint8Array): void {
  // A short line is a view into a whole chunk of input: a copy lets the chunk go.
  const isSmallPart = line.byteLength * 2 < line.buffer.byteLength;
  lines.set(trajectory, isSmallPart ? Buffer.from(line) : line);
}

/** The line of a trajectory, without newline; undefined for one that was made here or read from a store. */
export function lineOf(trajectory: Trajectory): Uint8Array | undefined {
  return lines.get(trajectory);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_RECORD = 0x7b;
const CLOSE_RECORD = 0x7d;
const STEPS = Buffer.from('"steps"');

/**
 * Where the items of the top-level list `steps` stand in a line of valid JSON; null where there is no such list or a
 * key is written with escapes, so that it could be one in disguise.
 */
export function locateSteps(line: Uint8Array): Span[] | null {
  let found: Span[] | null = null;
  let at = skipSpace(line, line[0] === 0xef ? 3 : 0);
  if (line[at] !== OPEN_RECORD) return null;
  at = skipSpace(line, at + 1);
  while (line[at] === QUOTE) {
    const end = skipString(line, at);
    if (line.subarray(at, end).includes(BACKSLASH)) return null;
    const isSteps = end - at === STEPS.length && STEPS.equals(line.subarray(at, end));
    at = skipSpace(line, end);
    if (line[at] !== COLON) return null;
    at = skipSpace(line, at + 1);
    // JSON.parse takes the last of two equal keys, and so does this.
    if (isSteps) found = line[at] === OPEN_LIST ? itemsOf(line, at) : null;
    at = skipSpace(line, skipValue(line, at));
    if (line[at] === COMMA) at = skipSpace(line, at + 1);
  }
  return line[at] === CLOSE_RECORD ? found : null;
}

function itemsOf(line: Uint8Array, list: number): Span[] {
  const items: Span[] = [];
  let at = skipSpace(line, list + 1);
  while (at < line.length && line[at] !== CLOSE_LIST) {
    const end = skipValue(line, at);
    items.push({ start: at, end });
    at = skipSpace(line, end);
    if (line[at] === COMMA) at = skipSpace(line, at + 1);
  }
  return items;
}

function skipValue(line: Uint8Array, start: number): number {
  const first = line[start]!;
  if (first === QUOTE) return skipString(line, start);
  if (first === OPEN_LIST || first === OPEN_RECORD) return skipNested(line, start);
  let at = start;
  while (at < line.length && !isEnd(line[at]!)) at += 1;
  return at;
}

function skipNested(line: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < line.length; at++) {
    const byte = line[at]!;
    if (byte === QUOTE) {
      at = skipString(line, at) - 1;
    } else if (byte === OPEN_LIST && isNumeric(line[at + 1])) {
      const end = endOfNumbers(line, at);
      if (end === -1) depth += 1;
      else at = end;
      if (depth === 0) return at + 1;
    } else if (byte >= OPEN_LIST) {
      // [ and { differ in one bit, and so do ] and }.
      const kind = byte | 0x20;
      if (kind === OPEN_RECORD) depth += 1;
      else if (kind === CLOSE_RECORD) depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return line.length;
}

/** The bracket that closes a list of nothing but numbers and nulls; -1 where the list has anything else in it. */
function endOfNumbers(line: Uint8Array, start: number): number {
  const end = line.indexOf(CLOSE_LIST, start + 1);
  const quote = line.indexOf(QUOTE, start + 1);
  if (end === -1 || (quote !== -1 && quote < end)) return -1;
  const inside = line.subarray(start + 1, end);
  return inside.includes(OPEN_LIST) || inside.includes(OPEN_RECORD) ? -1 : end;
}

/** A digit, a minus sign or the n of null. */
function isNumeric(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x6e);
}

/** Bytes of a string that are looked at one by one: most strings are names, which end before a search has begun. */
const SHORT = 32;

function skipString(line: Uint8Array, start: number): number {
  const near = Math.min(line.length, start + SHORT);
  for (let at = start + 1; at < near; at++) {
    const byte = line[at];
    if (byte === BACKSLASH) return skipLongString(line, at);
    if (byte === QUOTE) return at + 1;
  }
  return skipLongString(line, near);
}

/** @param from a place within the string that no backslash stands before. */
function skipLongString(line: Uint8Array, from: number): number {
  let quote = line.indexOf(QUOTE, from);
  while (quote !== -1 && isEscaped(line, quote, from)) quote = line.indexOf(QUOTE, quote + 1);
  return quote === -1 ? line.length : quote + 1;
}

/** An odd number of backslashes stands before it. */
function isEscaped(line: Uint8Array, quote: number, from: number): boolean {
  let at = quote;
  while (at > from && line[at - 1] === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 1;
}

function skipSpace(line: Uint8Array, start: number): number {
  let at = start;
  while (at < line.length && line[at]! <= 0x20) at += 1;
  return at;
}

function isEnd(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_RECORD || byte <= 0x20;
}
