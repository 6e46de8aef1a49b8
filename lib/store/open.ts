import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { Kysely } from 'kysely';
import { DartError } from '../errors.ts';
import type { StoreDialect } from './dialect.ts';
import { markLost } from './lost.ts';
import { migrate, refuseNewer } from './migrate.ts';
import { type HandOn, Rescue } from './rescue.ts';
import type { StoreTables } from './schema.ts';
import { Spool } from './spool.ts';
import { sqliteDialect } from './sqlite/dialect.ts';
import { openSqliteFile } from './sqlite/open.ts';
import { type Notify, Steady } from './steady.ts';
import { Store } from './store.ts';
import { sqlitePath, stateFolder, storeKind } from './url.ts';

/** How long a command waits for a store that is away. */
const PATIENCE_MS = 60_000;

export interface OpenOptions {
  /** The clock for leases, milliseconds since 1970; for tests. By default the one that all who share the store have. */
  now?: () => number;
  /** Only a store that is there already; for those who read. */
  existing?: boolean;
  /** DART_MYSQL_PASSWORD, and where the state folder is. Default: the process's own. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Takes what people should know: the store is away, is back, a spool file was taken up. Default: to stderr. */
  notify?: Notify;
  /** Prints rollouts of a spool file that nobody has printed, once they are stored. Default: prints none. */
  handOn?: HandOn;
  /** Told to stop: then a store that is away is not waited for. */
  signal?: AbortSignal;
  /** How long to wait for a store that is away; default: what a `mysql:` URL says (`?patience=S`), or 60 s. */
  patienceMs?: number;
}

interface Opened {
  dialect: StoreDialect;
  /** Tells the store from others, and for messages; without a password. */
  place: string;
  patienceMs: number | null;
}

/**
 * Opens a store, makes it where there is none, brings its tables up to date, takes in what an earlier command could
 * not store, and marks workers and desktops of processes that are gone.
 * @param url `sqlite:PATH`, of which `sqlite::memory:` lives as long as the process, or `mysql://USER@HOST/DATABASE`.
 * @throws DartError for a store of a newer version, a file that is something else, a folder that cannot be written, a
 *   server that cannot be reached or refuses. Nothing is waited for here.
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  const { env = process.env, notify = toStderr } = options;
  const opened = storeKind(url) === 'sqlite' ? openSqlite(url, options) : await openServer(url, options);
  const { dialect, place } = opened;
  const patienceMs = options.patienceMs ?? opened.patienceMs ?? PATIENCE_MS;
  const db = new Kysely<StoreTables>({ dialect: dialect.kysely });
  try {
    if (options.existing) await refuseEmpty(db, dialect, place);
    await migrate(db, dialect, place);
    const context = { db, dialect, now: options.now ?? (() => dialect.now()) };
    const steady = new Steady({ place, patienceMs, notify, signal: options.signal });
    const spool = new Spool(join(stateFolder(env), 'spool'), place);
    const rescue = place === ':memory:' ? null : new Rescue(spool, notify);
    if (!options.existing) {
      await rescue?.takeUp(context, steady, options.handOn ?? (async () => 0));
      await steady.run(() => markLost(context));
    }
    return new Store({ context, steady, rescue });
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

function toStderr(message: string): void {
  process.stderr.write(`${message}\n`);
}

function openSqlite(url: string, { existing }: OpenOptions): Opened {
  const path = sqlitePath(url);
  if (existing && path !== ':memory:' && !existsSync(path)) throw missing(path);
  const database = openSqliteFile(path, (file) => checkFile(file, path));
  return { dialect: sqliteDialect(database), place: path === ':memory:' ? path : resolve(path), patienceMs: null };
}

/** Loaded here: who has no server should not pay for its client. */
async function openServer(url: string, { env = process.env, existing }: OpenOptions): Promise<Opened> {
  const { openMysql } = await import('./mysql/open.ts');
  const { dialect, address } = await openMysql(url, { env, make: !existing });
  return { dialect, place: address.place, patienceMs: address.patienceMs };
}

async function refuseEmpty(db: Kysely<StoreTables>, dialect: StoreDialect, place: string): Promise<void> {
  if (dialect.name === 'mysql' && (await dialect.tables(db)).length === 0) throw missing(place);
}

function missing(where: string): DartError {
  return new DartError('there is no such store', { where, hint: 'the --store that dart-rollout was given' });
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
