import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { DartError, messageOf } from '../../errors.ts';
import { explainSqliteError } from './errors.ts';

/** How long a writer waits for another process's transaction; ours last milliseconds. */
const BUSY_TIMEOUT_MS = 15_000;

/**
 * Opens (or makes) the SQLite file of a store. `check` looks at the file before anything is changed in it and throws
 * where it must not be touched.
 */
export function openSqliteFile(path: string, check: (database: Database) => void): Database {
  const inMemory = path === ':memory:';
  const file = inMemory ? path : resolve(path);
  if (!inMemory) makeFolder(dirname(file));
  let database: Database | undefined;
  try {
    database = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
    check(database);
    database.pragma('journal_mode = WAL');
    // With WAL this loses nothing when a process dies, only the last moments when the power does.
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    return database;
  } catch (error) {
    database?.close();
    throw explainSqliteError(error, file);
  }
}

function makeFolder(folder: string): void {
  try {
    makeFolders(folder);
  } catch (error) {
    throw new DartError(`the folder of the store cannot be made: ${messageOf(error)}`, {
      where: folder,
      hint: 'a --store path in a folder that you may write to',
      cause: error,
    });
  }
}

/** Node's own `recursive` never ends where a file system says "no such file" to a new folder in an existing one. */
function makeFolders(folder: string): void {
  if (isFolder(folder)) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it a moment ago.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
