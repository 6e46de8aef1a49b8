import type { Kysely } from 'kysely';
import type { StoreDialect } from '../dialect.ts';
import type { StoreTables } from '../schema.ts';

/** Name, table, columns. */
export type Index = readonly [string, keyof StoreTables, readonly string[]];

/** Makes indices; those that a migration which was cut off has made already are left as they are. */
export async function makeIndices(
  db: Kysely<StoreTables>,
  dialect: StoreDialect,
  indices: readonly Index[],
): Promise<void> {
  for (const [name, table, columns] of indices) {
    try {
      await db.schema
        .createIndex(name)
        .on(table)
        .columns(columns as string[])
        .execute();
    } catch (error) {
      if (!dialect.isThereAlready(error)) throw error;
    }
  }
}
