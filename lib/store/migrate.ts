import type { Kysely } from 'kysely';
import { DartError } from '../errors.ts';
import type { StoreDialect } from './dialect.ts';
import { MIGRATIONS, STORE_VERSION } from './migrations/index.ts';
import type { StoreTables } from './schema.ts';

/** Refuses a store that a newer build has migrated: this one could misread it. */
export function refuseNewer(version: number, where: string): void {
  if (version <= STORE_VERSION) return;
  throw new DartError(`this store has version ${version}, this build knows versions up to ${STORE_VERSION}`, {
    where,
    hint: 'a newer dart-toolkit, or another --store; nothing was changed',
  });
}

/**
 * Applies the migrations that are still missing, while no other process does: of several that open a new store at once,
 * one makes the tables and the others find them made.
 */
export async function migrate(db: Kysely<StoreTables>, dialect: StoreDialect, where: string): Promise<void> {
  const tables = await dialect.tables(db);
  if (tables.length > 0 && !tables.includes('migration')) {
    throw new DartError('this database holds something else than a store', {
      where,
      hint: 'another database in --store; nothing was changed',
    });
  }
  if (tables.includes('migration')) {
    const version = await readVersion(db);
    refuseNewer(version, where);
    if (version === STORE_VERSION) return;
  }
  await dialect.alone(db, (inner) => applyMissing(inner, dialect, where));
}

async function applyMissing(db: Kysely<StoreTables>, dialect: StoreDialect, where: string): Promise<void> {
  await db.schema
    .createTable('migration')
    .ifNotExists()
    .addColumn('version', dialect.columns.integer, (col) => col.primaryKey().notNull())
    .addColumn('name', dialect.columns.text, (col) => col.notNull())
    .addColumn('applied_at', dialect.columns.time, (col) => col.notNull())
    .execute();
  const current = await readVersion(db);
  refuseNewer(current, where);
  for (const migration of MIGRATIONS.filter((candidate) => candidate.version > current)) {
    await migration.up(db, dialect);
    await db
      .insertInto('migration')
      .values({ version: migration.version, name: migration.name, applied_at: dialect.now() })
      .execute();
  }
}

async function readVersion(db: Kysely<StoreTables>): Promise<number> {
  const row = await db
    .selectFrom('migration')
    .select((eb) => eb.fn.max('version').as('version'))
    .executeTakeFirst();
  return Number(row?.version ?? 0);
}
