import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { fileError } from '../../lib/stream/errno.ts';
import { LineSplitter } from '../../lib/stream/lines.ts';
import { MAX_LINE_BYTES } from '../../lib/stream/reader.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';

/** The update after which the trainer wrote a record, or the version of it; null where the record does not say. */
export function updateOf(record: AnyRecord): number | null {
  const { type, event, update, version, command } = record;
  const told = (value: unknown) => (typeof value === 'number' ? value : null);
  if (type === 'metric') {
    return typeof record.name === 'string' && record.name.startsWith('train/') ? told(update) : null;
  }
  if (type === 'checkpoint') return told(version);
  if (type === 'summary') return command === 'dart-train' ? told(version) : null;
  if (type !== 'event') return null;
  if (event === 'rolled_back' || event === 'closed_group_learned') return told(version);
  if (event === 'update_skipped') return told(record.after_update);
  return null;
}

/** What a file has of trainers. */
export interface Survey {
  /** Whether it has anything. */
  trained: boolean;
  /** By their ids. */
  runs: Set<string>;
  /** Updates whose metrics are there, and goings back, which take a number as well. */
  updates: Set<number>;
}

/** Reads a file once, for what is in it. */
export async function survey(file: string, name: string): Promise<Survey> {
  const found: Survey = { trained: false, runs: new Set(), updates: new Set() };
  for await (const { record } of linesOf(file, name)) {
    const update = record === null ? null : updateOf(record);
    if (record === null || update === null) continue;
    found.trained = true;
    if (typeof record.run_id === 'string') found.runs.add(record.run_id);
    if (record.type === 'metric' || record.event === 'rolled_back') found.updates.add(update);
  }
  return found;
}

/** `2, 5-7`: the numbers from 1 to `last` that are not there; empty where all are. */
export function missingOf(there: ReadonlySet<number>, last: number): string {
  const holes: string[] = [];
  for (let from = 1; from <= last; from++) {
    if (there.has(from)) continue;
    let to = from;
    while (to < last && !there.has(to + 1)) to += 1;
    holes.push(from === to ? `${from}` : `${from}-${to}`);
    from = to;
  }
  return holes.join(', ');
}

/**
 * Records that a file has, each as often as it is there. What is read again after a restart is told again: the records
 * passed on, and the evaluations. They are known again by all that they say, an evaluation by its scores: which version is
 * the best may have changed since.
 */
export class Known {
  readonly #counts = new Map<string, number>();

  add(record: AnyRecord): void {
    const key = keyOf(record);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Whether the record is there, one more time than it was asked for. */
  take(record: AnyRecord): boolean {
    const key = keyOf(record);
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
    return count > 0;
  }
}

function keyOf(record: AnyRecord): string {
  const { type, event, version, score, low, high } = record;
  const evaluated = type === 'event' && event === 'evaluated';
  const said = JSON.stringify(evaluated ? { event, version, score, low, high } : record);
  return createHash('sha256').update(said).digest('base64');
}

interface Line {
  bytes: Uint8Array;
  /** Null where there is none in it. */
  record: AnyRecord | null;
  /** The file ends within it. */
  torn: boolean;
}

/** The lines of a file, with the records in them. */
export async function* linesOf(file: string, name: string): AsyncGenerator<Line, void, void> {
  const splitter = new LineSplitter(MAX_LINE_BYTES);
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
      for (const split of splitter.push(chunk as Buffer)) yield lineOf(split.bytes, false);
    }
  } catch (error) {
    throw fileError(error, 'read', name);
  }
  for (const split of splitter.end()) yield lineOf(split.bytes, split.unfinished);
}

function lineOf(bytes: Uint8Array | null, unfinished: boolean): Line {
  if (bytes === null) return { bytes: new Uint8Array(0), record: null, torn: true };
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return { bytes, record: isRecord ? (value as AnyRecord) : null, torn: false };
  } catch {
    return { bytes, record: null, torn: unfinished };
  }
}
