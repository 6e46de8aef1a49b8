import { type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { DartError } from '../../errors.ts';
import { fileError } from '../../stream/errno.ts';
import { makeFolderSync } from '../../stream/files.ts';
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
  if (!inMemory) {
    makeFolderSync(dirname(file));
    refuseOther(file);
  }
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

/** SQLite would take some of these for a file that somebody else holds, or wait for the other end of a pipe. */
function refuseOther(file: string): void {
  let found: Stats | undefined;
  try {
    found = statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw fileError(error, 'open the store', file);
  }
  if (!found || found.isFile()) return;
  const hint = 'sqlite:PATH of a file, which is made where there is none';
  throw new DartError(`a store is a regular file, and this is ${kindOf(found)}`, { where: file, hint });
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a pipe';
  return found.isSocket() ? 'a socket' : 'a device';
}
