import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { createConnection } from 'mysql2/promise';
import { orSkip } from '../stream/shared.testing.ts';

const START_MS = 120_000;

function findMariaDb(): string | null {
  const { status } = spawnSync('mariadbd', ['--version'], { stdio: 'ignore' });
  return orSkip('mariadb', status === 0 ? 'mariadbd' : null, 'there is no mariadbd (Debian: mariadb-server)');
}

/** The server's program, or null where it is not installed: use with `describe.skipIf(!mariadb)`. */
export const mariadb: string | null = findMariaDb();

/** A MariaDB of a test's own: private data folder, socket and port. */
export class MariaDb {
  readonly folder: string;
  readonly port: number;
  #process: ChildProcess | null = null;
  #databases = 0;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  static async start(...more: string[]): Promise<MariaDb> {
    const server = new MariaDb(mkdtempSync(join(tmpdir(), 'dart-mariadb-')), await freePort());
    await execa('mariadb-install-db', [
      ...server.#common,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
    ]);
    await server.up(...more);
    await server.query("create user 'dart'@'%' identified by 'secret'");
    await server.query("grant all privileges on `dart%`.* to 'dart'@'%'");
    return server;
  }

  /** A store's URL; without a name that of a database that nobody has used. */
  url(database = `dart${++this.#databases}`): string {
    return `mysql://dart:secret@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts the server again after `down`. */
  async up(...more: string[]): Promise<void> {
    const args = [...this.#common, `--port=${this.port}`, '--bind-address=127.0.0.1', `--socket=${this.#socket}`];
    // Commits outlive the server, though not the machine.
    const cheap = ['--innodb-flush-log-at-trx-commit=2', '--innodb-doublewrite=0', '--debug-no-sync'];
    const log = `--log-error=${join(this.folder, 'log')}`;
    const server = spawn(mariadb!, [...args, ...cheap, log, ...more], { stdio: 'ignore' });
    this.#process = server;
    for (const end = performance.now() + START_MS; ; await sleep(20)) {
      const answer = await this.query('select 1').catch((error: unknown) => error);
      if (!(answer instanceof Error)) return;
      if (performance.now() < end && server.exitCode === null) continue;
      throw new Error(`mariadbd does not answer: ${readFileSync(join(this.folder, 'log'), 'utf8').slice(-2000)}`);
    }
  }

  /** Stops the server, politely or not. */
  async down(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const server = this.#process;
    this.#process = null;
    if (!server || server.exitCode !== null) return;
    const over = once(server, 'exit');
    server.kill(signal);
    await over;
  }

  /** Deletes all rows of a store but those of its migrations; nothing where there is no such database. */
  async empty(database: string): Promise<void> {
    const tables = (await this.query(
      `select table_name as name from information_schema.tables where table_schema = '${database}'`,
    )) as { name: string }[];
    const names = tables.map(({ name }) => name).filter((name) => name !== 'migration');
    const deletes = names.map((name) => `delete from ${database}.${name}`);
    await this.query(['set foreign_key_checks = 0', ...deletes].join('; '));
  }

  /** Statements as the administrator. */
  async query(sql: string): Promise<unknown[]> {
    const connection = await createConnection({ socketPath: this.#socket, user: 'root', multipleStatements: true });
    try {
      const [rows] = await connection.query(sql);
      return rows as unknown[];
    } finally {
      connection.destroy();
    }
  }

  /** Ends the server and removes its data. */
  async remove(): Promise<void> {
    await this.down('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  get #socket(): string {
    return join(this.folder, 'socket');
  }

  get #common(): string[] {
    const small = ['--innodb-flush-method=nosync', '--innodb-log-file-size=8M', '--innodb-buffer-pool-size=32M'];
    return ['--no-defaults', '--user=root', `--datadir=${join(this.folder, 'data')}`, ...small];
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
