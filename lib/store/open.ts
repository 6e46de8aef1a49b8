import { existsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { Kysely } from 'kysely';
import { DartError } from '../errors.ts';
import { migrate, refuseNewer } from './migrate.ts';
import type { StoreTables } from './schema.ts';
import { sqliteDialect } from './sqlite/dialect.ts';
import { openSqliteFile } from './sqlite/open.ts';
import { Store } from './store.ts';
import { sqlitePath } from './url.ts';

export interface OpenOptions {
  /** The clock for leases, milliseconds since 1970; for tests. */
  now?: () => number;
  /** Only a store that is there already; for those who read. */
  existing?: boolean;
}

/**
 * Opens a store, makes it where there is none, and brings its tables up to date.
 * @param url `sqlite:PATH`; `sqlite::memory:` lives as long as the process.
 * @throws DartError for a store of a newer version, a file that is something else, a folder that cannot be written.
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  const path = sqlitePath(url);
  if (options.existing && path !== ':memory:' && !existsSync(path)) {
    throw new DartError('there is no such store', { where: path, hint: 'the --store that dart-rollout was given' });
  }
  const database = openSqliteFile(path, (file) => checkFile(file, path));
  const dialect = sqliteDialect(database);
  const db = new Kysely<StoreTables>({ dialect: dialect.kysely });
  try {
    await migrate(db, dialect, path);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return new Store({ db, dialect, now: options.now ?? Date.now }, url);
}

/** Looks, and touches nothing: is this file empty, or a store, and one that this build understands? */
function checkFile(database: Database, path: string): void {
  const tables = database.prepare("select name from sqlite_master where type = 'table'").pluck().all();
  if (tables.length === 0) return;
  if (!tables.includes('migration')) {
    throw new DartError('this SQLite file holds something else than a store', {
      where: path,
      hint: 'another --store path; nothing was changed',
    });
  }
  refuseNewer(Number(database.prepare('select max(version) from migration').pluck().get() ?? 0), path);
}
