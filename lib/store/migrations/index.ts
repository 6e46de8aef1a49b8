import type { Kysely } from 'kysely';
import type { StoreDialect } from '../dialect.ts';
import type { StoreTables } from '../schema.ts';
import { createTables } from './0001-tables.ts';
import { addOwners } from './0002-owners.ts';

export interface Migration {
  /**
   * 1, 2, 3, … without gaps; never changed once released. Where the database makes tables outside of transactions (MySQL),
   * `up` may find part of its work done by one that was cut off.
   */
  version: number;
  name: string;
  up(db: Kysely<StoreTables>, dialect: StoreDialect): Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'tables', up: createTables },
  { version: 2, name: 'owners', up: addOwners },
];

/** The version that this build reads and writes. */
export const STORE_VERSION = MIGRATIONS.length;
