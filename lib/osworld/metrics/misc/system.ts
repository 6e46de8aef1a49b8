import type { Database } from 'better-sqlite3';
import { DartError, messageOf } from '../../../errors.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { isRecord } from '../../rules.ts';
import { resultFile, rulesOf } from '../input.ts';
import { ofAgent } from './both.ts';

/** GNOME's scaling factor, as `gsettings get` prints it, is above 1. */
const textEnlarged: Metric = (input) => Number(Number.parseFloat(String(input.result ?? '')) > 1);

/** `{expected}`: the folder holds just these names. */
const movedPictures: Metric = (input) => {
  const expected = rulesOf(input).texts('expected');
  const children = isRecord(input.result) && Array.isArray(input.result.children) ? input.result.children : [];
  const names = children.map((child) => (isRecord(child) ? String(child.name) : ''));
  const wanted = new Set(expected);
  return Number(
    names.length === expected.length && names.every((name) => wanted.has(name)) && new Set(names).size === wanted.size,
  );
};

/** The clipboard, which this task gives as the expected text, holds every text of the result's `expected`. */
const inClipboard: Metric = (input) => {
  const wanted = isRecord(input.result) ? input.result.expected : undefined;
  const texts = Array.isArray(wanted) ? wanted : [wanted];
  if (!texts.every((text) => typeof text === 'string')) {
    throw new DartError(`metric ${input.name}: the result should be a rule {expected}`, { where: input.where });
  }
  const clipboard = typeof input.expected === 'string' ? input.expected : '';
  return Number(texts.every((text) => clipboard.includes(text)));
};

/** Two sizes are the same; a missing one is not. */
const fullscreen: Metric = ({ result, expected }) => {
  if (!isRecord(result) || !isRecord(expected)) return 0;
  return Number(result.width === expected.width && result.height === expected.height);
};

/** `{sql}`: the first value of the first row, 0..1, that a query of an SQLite file gives. */
const runSqlite: Metric = async (input) => {
  const sql = rulesOf(input).text('sql');
  const database = await ofAgent(resultFile(input), openInMemory);
  if (database === null) return 0;
  try {
    return Number(firstValue(database, sql, input) ?? 0);
  } finally {
    database.close();
  }
};

/** Where an SQLite file says that it has a write-ahead log, which a copy in memory cannot have. */
const JOURNAL_MODES = [18, 19];

async function openInMemory(bytes: Uint8Array): Promise<Database> {
  const { default: Sqlite } = await import('better-sqlite3');
  const copy = Buffer.from(bytes);
  for (const at of JOURNAL_MODES) if (copy[at] === 2) copy[at] = 1;
  const database = new Sqlite(copy);
  database.prepare('SELECT 1 FROM sqlite_master').all();
  return database;
}

/** A query alone is run: nothing that writes, and nothing that opens another file. */
function firstValue(database: Database, sql: string, input: MetricInput): unknown {
  try {
    const statement = database.prepare(sql);
    if (!statement.reader || !statement.readonly) throw new Error('sql should be one query that reads');
    return statement.pluck().get();
  } catch (cause) {
    // A table that the agent's file lacks; anything else is wrong in the rule.
    if (/no such (table|column)/.test(messageOf(cause))) return 0;
    throw new DartError(`metric ${input.name}: ${messageOf(cause)}`, { where: input.where, cause });
  }
}

/** The state of the system and its programs. */
export const systemMetrics: Record<string, Metric> = {
  check_text_enlarged: textEnlarged,
  check_moved_jpgs: movedPictures,
  is_in_vm_clickboard: inClipboard,
  is_vlc_fullscreen: fullscreen,
  run_sqlite3: runSqlite,
};
