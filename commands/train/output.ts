import { createReadStream, statSync } from 'node:fs';
import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { LineSplitter } from '../../lib/stream/lines.ts';
import { MAX_LINE_BYTES } from '../../lib/stream/reader.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { textOf } from './settings.ts';

/** The run that writes, and the version that it goes on from; null where it begins. */
export interface WritingRun {
  runId: string;
  version: number | null;
}

/**
 * Where the records go. A run that goes on keeps what `-o FILE` holds of it: the new records come after those, and in place
 * of those of updates that were lost and are made again. The file is still put in its place whole, at the end.
 * @throws DartError where the file holds the records of another run.
 */
export async function openRunOutput(context: CommandContext, run: WritingRun): Promise<Output> {
  const path = textOf(context.options, 'output') ?? '-';
  const file = resolvePath(context.io, path);
  const found = path === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (run.version === null || !found?.isFile() || found.size === 0) return openOutput(context);
  const runs = await runsIn(file, path);
  if (runs === null) return openOutput(context);
  if (runs.size > 0 && !runs.has(run.runId)) {
    const others = [...runs].map((id) => `'${id}'`).join(', ');
    throw new DartError(`the file holds the records of run ${others}, and '${run.runId}' goes on`, {
      where: path,
      hint: 'another file, or --run-id with the name that the run had',
    });
  }
  const output = await openOutput(context);
  await keep(context, { path, file, version: run.version }, output);
  return output;
}

/** The runs that a file has records of; null where there are no records of a trainer at all. */
async function runsIn(file: string, name: string): Promise<Set<string> | null> {
  let trained = false;
  const runs = new Set<string>();
  for await (const { record } of linesOf(file, name)) {
    if (record === null || updateOf(record) === null) continue;
    trained = true;
    if (typeof record.run_id === 'string') runs.add(record.run_id);
  }
  return trained ? runs : null;
}

/** Copies what a file has of the run until its version. */
async function keep(
  context: CommandContext,
  { path, file, version }: { path: string; file: string; version: number },
  output: Output,
): Promise<void> {
  let last = 0;
  for await (const { bytes, record, torn } of linesOf(file, path)) {
    const update = record === null ? null : updateOf(record);
    if (torn || (update !== null && update > version)) continue;
    last = Math.max(last, update ?? 0);
    await output.writer.writeLines(Buffer.concat([bytes, Buffer.from('\n')]), 1);
  }
  if (last === version) return logOf(context).info(`${path} has what this run reported until version ${version}`);
  const has = `${path} has the records of this run until version ${last}, not those until version ${version}`;
  logOf(context).warn(`${has}, that it goes on from. Try: >> ${path} in place of -o`);
}

/** The update after which the trainer wrote a record, or the version of it; null where the record does not say. */
function updateOf(record: AnyRecord): number | null {
  const { type, event, update, version, command } = record;
  const told = (value: unknown) => (typeof value === 'number' ? value : null);
  if (type === 'metric') return String(record.name).startsWith('train/') ? told(update) : null;
  if (type === 'checkpoint') return told(version);
  if (type === 'summary') return command === 'dart-train' ? told(version) : null;
  if (type !== 'event') return null;
  if (event === 'rolled_back') return told(version);
  if (event === 'update_skipped') return told(record.after_update);
  return null;
}

interface Line {
  bytes: Uint8Array;
  /** Null where there is none in it. */
  record: AnyRecord | null;
  /** The file ends within it. */
  torn: boolean;
}

async function* linesOf(file: string, name: string): AsyncGenerator<Line, void, void> {
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
