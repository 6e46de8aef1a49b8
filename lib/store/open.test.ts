import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { openStore } from './open.ts';
import { trajectory } from './trajectories.testing.ts';
import { defaultStoreUrl, sqlitePath } from './url.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dart-store-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function failure(url: string): Promise<DartError> {
  const error = await openStore(url).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DartError);
  return error as DartError;
}

describe('openStore', () => {
  it('makes the folders, and finds again what was stored', async () => {
    const url = `sqlite:${join(folder, 'deep', 'er', 'dart.db')}`;
    const first = await openStore(url);
    await first.insertTrajectories([trajectory({ id: 'a' })]);
    await first.close();
    const second = await openStore(url);
    expect((await second.trajectory('a'))?.trajectory_id).toBe('a');
    await second.close();
  });

  it('has the eleven tables, and three of bookkeeping', async () => {
    const store = await openStore('sqlite::memory:');
    const tables = (await store.db.introspection.getTables())
      .map((table) => table.name)
      .filter((name) => !name.startsWith('sqlite'));
    const eleven =
      'environment experience group_member model_version rollout rollout_step run task training_group worker worker_sync';
    expect(tables.sort()).toEqual([...eleven.split(' '), 'cursor', 'migration', 'work_lease'].sort());
    await store.close();
  });

  it('brings a store of version 1 up to date and keeps what is in it', async () => {
    const path = join(folder, 'dart.db');
    const first = await openStore(`sqlite:${path}`);
    await first.registerRun({ run_id: 'run1' });
    await first.close();
    const file = new Sqlite(path);
    file.exec(`drop table environment; drop index group_run; delete from migration where version > 1;
      create table environment (run_id text not null references run, env_id text not null, driver text not null,
        state text not null, server_url text, screen_width integer not null, screen_height integer not null,
        boot_ms real not null, failures integer not null, updated_at integer not null, primary key (run_id, env_id));
      insert into environment values ('run1', 'e0', 'embedded', 'ready', null, 160, 120, 1.5, 2, 77)`);
    file.close();
    const store = await openStore(`sqlite:${path}`);
    expect(await store.db.selectFrom('environment').selectAll().execute()).toEqual([
      {
        ...{ run_id: 'run1', owner: '', env_id: 'e0', driver: 'embedded', state: 'ready', server_url: null },
        ...{ screen_width: 160, screen_height: 120, boot_ms: 1.5, failures: 2, updated_at: 77 },
      },
    ]);
    await store.close();
  });

  it('refuses a store of a newer version and changes nothing in it', async () => {
    const path = join(folder, 'dart.db');
    await (await openStore(`sqlite:${path}`)).close();
    const file = new Sqlite(path);
    file.exec("insert into migration values (99, 'from the future', 0)");
    file.close();
    const before = readFileSync(path);
    const error = await failure(`sqlite:${path}`);
    expect(error.message).toBe('this store has version 99, this build knows versions up to 2');
    expect(error.where).toBe(path);
    expect(error.exitCode).toBe(2);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('refuses what is not a store and leaves it as it is', async () => {
    const text = join(folder, 'notes.txt');
    writeFileSync(text, 'these are my notes, and they are longer than the header of a database file. '.repeat(20));
    expect((await failure(`sqlite:${text}`)).message).toBe('this file is not a store (SQLITE_NOTADB)');
    const other = join(folder, 'other.db');
    new Sqlite(other).exec('create table holiday (place text)').close();
    const before = readFileSync(other);
    expect((await failure(`sqlite:${other}`)).message).toBe('this SQLite file holds something else than a store');
    expect(readFileSync(other).equals(before)).toBe(true);
  });

  it('refuses what is no regular file before it opens it', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const [path, kind] of [
      ['/dev/null', 'a device'],
      ['/dev/full', 'a device'],
      [folder, 'a folder'],
      [pipe, 'a pipe'],
    ] as const) {
      expect((await failure(`sqlite:${path}`)).describe()).toBe(
        `${path}: a store is a regular file, and this is ${kind}. Try: sqlite:PATH of a file, which is made where there is none`,
      );
    }
  });

  it('says where it cannot write', async () => {
    writeFileSync(join(folder, 'file'), '');
    const error = await failure(`sqlite:${join(folder, 'file', 'dart.db')}`);
    expect([error.where, error.message]).toEqual([
      join(folder, 'file'),
      'cannot make the folder: there is a file of that name',
    ]);
  });

  it.skipIf(!existsSync('/proc/self'))('does not try for ever where a folder cannot be made', async () => {
    expect((await failure('sqlite:/proc/nowhere/dart.db')).where).toBe('/proc/nowhere');
  });

  it('says that the disk is full, and keeps what was there', async () => {
    const store = await openStore(`sqlite:${join(folder, 'dart.db')}`, { env: { XDG_STATE_HOME: folder } });
    await store.insertTrajectories([trajectory({ id: 'a' })]);
    await sql`pragma max_page_count = 1`.execute(store.db);
    const many = Array.from({ length: 200 }, (_, i) => trajectory({ id: `t${i}`, steps: 8 }));
    await expect(store.insertTrajectories(many)).rejects.toThrow('no space left for the store (SQLITE_FULL)');
    expect(await store.trajectory('t0')).toBeNull();
    expect((await store.trajectory('a'))?.trajectory_id).toBe('a');
    await store.close();
  });

  it('names the kinds of store that there are', async () => {
    const error = await failure('postgres://root@localhost/dart');
    expect(error.describe()).toBe(
      '--store: stores of the kind "postgres:" are not supported. Try: sqlite:PATH, or mysql://USER@HOST/DATABASE',
    );
    expect((await failure('dart.db')).message).toBe('"dart.db" is not the address of a store');
  });
});

describe('addresses', () => {
  it('default to the state folder of the XDG rules', () => {
    expect(defaultStoreUrl({ XDG_STATE_HOME: '/state', HOME: '/home/me' })).toBe('sqlite:/state/dart/dart.db');
    expect(defaultStoreUrl({ XDG_STATE_HOME: 'relative', HOME: '/home/me' })).toBe(
      'sqlite:/home/me/.local/state/dart/dart.db',
    );
  });

  it('may be written with slashes', () => {
    expect(sqlitePath('sqlite:a/b.db')).toBe('a/b.db');
    expect(sqlitePath('sqlite:///a/b.db')).toBe('/a/b.db');
    expect(sqlitePath('SQLITE:c.db')).toBe('c.db');
  });
});
