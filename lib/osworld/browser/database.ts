import type Database from 'better-sqlite3';

/** A row as Python's sqlite3 gives it: the columns in order. */
export type Row = unknown[];

/** True for the bytes of a SQLite database. */
export function isDatabase(bytes: Uint8Array): boolean {
  return new TextDecoder('latin1').decode(bytes.subarray(0, 16)) === 'SQLite format 3\0';
}

/**
 * Rows of a query on a copy of a SQLite file, in memory. Numbers beyond 2^53 (Chrome's microseconds) lose their last
 * digit. Null where the file is broken or has no such table.
 */
export async function queryRows(bytes: Uint8Array, query: string): Promise<Row[] | null> {
  if (!isDatabase(bytes)) return null;
  try {
    const database = await openDatabase(bytes);
    try {
      return database.prepare(query).raw().all() as Row[];
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

/** A database in memory, a copy of the file's bytes or a new one. Its `serialize()` gives a file again. */
export async function openDatabase(bytes?: Uint8Array): Promise<Database.Database> {
  const { default: Sqlite } = await import('better-sqlite3');
  if (bytes === undefined) return new Sqlite(':memory:');
  const copy = Buffer.from(bytes);
  // A file in write-ahead mode cannot be opened in memory; what its log has is not in these bytes anyway.
  copy[18] = 1;
  copy[19] = 1;
  return new Sqlite(copy);
}
