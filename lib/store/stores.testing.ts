import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MariaDb, mariadb } from './mariadb.testing.ts';

/** A kind of database that the same tests run on. */
export interface TestStores {
  name: 'SQLite' | 'MariaDB';
  /** Before all tests of a file. */
  start(): Promise<void>;
  /** URL of an empty store, or of one that is not there yet. The one before is not used any more. */
  fresh(): Promise<string>;
  /** URL of a store that is not there yet. */
  absent(): string;
  /** After all tests of a file. */
  stop(): Promise<void>;
}

/** The databases that are here: `describe.each(STORES)('… on $name', (stores) => …)`. */
export const STORES: readonly TestStores[] = mariadb ? [sqlite(), onMariaDb()] : [sqlite()];

function sqlite(): TestStores {
  let folder = '';
  let count = 0;
  const absent = () => `sqlite:${join(folder, `${count++}.db`)}`;
  return {
    name: 'SQLite',
    async start() {
      folder = mkdtempSync(join(tmpdir(), 'dart-stores-'));
    },
    absent,
    fresh: async () => absent(),
    async stop() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function onMariaDb(): TestStores {
  let server: MariaDb | null = null;
  return {
    name: 'MariaDB',
    async start() {
      server = await MariaDb.start();
    },
    absent: () => server!.url(),
    async fresh() {
      // Emptied instead of made anew, which takes half a second.
      await server!.empty('dart0');
      return server!.url('dart0');
    },
    async stop() {
      await server?.remove();
    },
  };
}
