import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DartError } from '../../errors.ts';
import { MariaDb, mariadb } from '../mariadb.testing.ts';
import { openStore } from '../open.ts';
import { trajectory } from '../trajectories.testing.ts';
import { ServerClock } from './clock.ts';

let server: MariaDb;
let state: string;
beforeAll(async () => {
  if (!mariadb) return;
  server = await MariaDb.start();
  state = mkdtempSync(join(tmpdir(), 'dart-state-'));
});
afterAll(async () => {
  await server?.remove();
  if (state) rmSync(state, { recursive: true, force: true });
});

const open = (url: string, existing = false) =>
  openStore(url, { existing, env: { XDG_STATE_HOME: state }, notify: () => {}, patienceMs: 0 });

async function failure(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (reason: DartError) => reason,
  );
  expect(error?.name).toMatch(/DartError|StoreTrouble/);
  return error!.describe();
}

describe.skipIf(!mariadb)('a store on a server', () => {
  it('is made with its database, and only for those who write', async () => {
    const url = server.url();
    const place = new URL(url).host + new URL(url).pathname;
    expect(await failure(open(url, true))).toContain(`${place}: there is no such store: the server has no such`);
    await (await open(url)).close();
    await (await open(url, true)).close();
    await server.query('create database dart_empty');
    expect(await failure(open(server.url('dart_empty'), true))).toContain('there is no such store');
  });

  it('keeps ids that differ in case, in accents or in blanks at the end apart', async () => {
    const store = await open(server.url());
    const ids = ['a', 'A', 'á', 'a ', 'ａ'];
    expect(await store.insertTrajectories(ids.map((id) => trajectory({ id, task: `os/${id}`, group: id })))).toBe(5);
    for (const id of ids) expect((await store.trajectory(id))?.task_id).toBe(`os/${id}`);
    expect((await store.storedMembers(ids)).size).toBe(5);
    await store.close();
  });

  it('keeps tables of one kind, with their foreign keys', async () => {
    const url = server.url();
    await (await open(url)).close();
    const schema = new URL(url).pathname.slice(1);
    const tables = (await server.query(
      `select distinct engine, table_collation from information_schema.tables where table_schema = '${schema}'`,
    )) as { engine: string }[];
    expect(tables.map((table) => table.engine)).toEqual(['InnoDB']);
    const keys = await server.query(
      `select constraint_name from information_schema.referential_constraints where constraint_schema = '${schema}'`,
    );
    expect(keys).toHaveLength(13);
  });

  it('refuses a database that holds something else', async () => {
    await server.query('create database dart_other; create table dart_other.holiday (place text)');
    expect(await failure(open(server.url('dart_other')))).toContain('this database holds something else than a store');
    expect(await server.query('show tables in dart_other')).toHaveLength(1);
  });

  it('goes on with tables that a migration which was cut off has left', async () => {
    const url = server.url();
    await (await open(url)).close();
    const schema = new URL(url).pathname.slice(1);
    const drop = ['experience', 'group_member', 'cursor'].map((table) => `drop table ${schema}.${table}`).join('; ');
    await server.query(`${drop}; delete from ${schema}.migration`);
    const store = await open(url);
    await store.addExperience([trajectory({ id: 'a', reward: 1 })], { capacity: 8 });
    expect(await store.experienceIds('chrome/t1')).toEqual(['a']);
    await store.close();
  });

  it('says what is wrong with a user, a password, a database, a port', async () => {
    const url = server.url('dart0');
    const where = new URL(url).host;
    expect(await failure(open(url.replace('secret', 'wrong')))).toBe(
      `${where}/dart0: the server does not let this user in (ER_ACCESS_DENIED_ERROR). Try: the user in --store, the password in DART_MYSQL_PASSWORD`,
    );
    expect(await failure(open(server.url('forbidden')))).toContain(
      'there is no database forbidden, or dart may not use it. Try: as an administrator: CREATE DATABASE IF NOT EXISTS `forbidden`; GRANT ALL PRIVILEGES ON `forbidden`.* TO',
    );
    expect(await failure(open(`${url}?ssl=required`))).toContain('the server has no TLS');
    expect(await failure(open('mysql://dart@127.0.0.1:1/dart'))).toBe(
      '127.0.0.1:1/dart: no server answers there (ECONNREFUSED). Try: starting the server; looking at the host and the port of --store',
    );
  });

  it('names the variable of the server that a record is too large for', async () => {
    const store = await open(server.url());
    const noise = { ...trajectory({ id: 'huge' }), noise: randomBytes(9 << 20).toString('base64') };
    const error = await failure(store.insertTrajectories([noise]));
    expect(error).toMatch(/a record of \d+ bytes is larger than the server takes \(max_allowed_packet = 16777216\)/);
    expect(error).toContain('SET GLOBAL max_allowed_packet = 33554432');
    // It is no fault of the store's, and the connection lives.
    expect(await store.trajectory('huge')).toBeNull();
    const small = Array.from({ length: 6 }, (_, i) => ({
      ...trajectory({ id: `large${i}` }),
      noise: randomBytes(3 << 20).toString('base64'),
    }));
    expect(await store.insertTrajectories(small)).toBe(6);
    await store.close();
  });

  it('goes by the clock of the server', async () => {
    const store = await open(server.url());
    await store.registerRun({ run_id: 'r', command: 'x', config: { store: 'mysql://me:secret@db/dart' } });
    const [row] = await store.db.selectFrom('run').selectAll().execute();
    expect(row!.config_json).toBe('{"store":"mysql://me:***@db/dart"}');
    expect(Math.abs(row!.created_at - Date.now())).toBeLessThan(600_000);
    await store.close();
  });

  it('is told apart from one that is there when trajectories are kept for it', async () => {
    const url = server.url();
    const store = await open(url);
    await store.insertTrajectories([trajectory({ id: 'before' })]);
    await server.down();
    expect(await failure(store.insertTrajectories([trajectory({ id: 'kept' })]))).toMatch(
      /the store stayed away for 0 s: .*; 1 trajectory kept in .*ndjson/,
    );
    await store.close();
    await server.up();
    await (await open(server.url())).close();
    expect(readdirSync(join(state, 'dart', 'spool'))).toHaveLength(1);
    const again = await open(url);
    expect(await again.countRollouts('run1')).toBe(2);
    expect(readdirSync(join(state, 'dart', 'spool'))).toHaveLength(0);
    await again.close();
  });
});

describe('the clock of a server', () => {
  it('is what the server said, and goes on from there whatever the clock of this machine says', async () => {
    const clock = new ServerClock();
    expect(clock.isStale).toBe(true);
    const future = 4_000_000_000_000;
    await clock.compare(async () => future);
    expect(clock.isStale).toBe(false);
    const before = clock.now();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const passed = clock.now() - before;
    expect(before - future).toBeLessThan(600_000);
    expect(passed).toBeGreaterThanOrEqual(15);
  });
});
