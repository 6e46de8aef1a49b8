import type { Kysely } from 'kysely';
import type { StoreDialect } from './dialect.ts';
import type { StoreTables } from './schema.ts';

/** What every query needs. Inside a transaction `db` is the transaction. */
export interface StoreContext {
  db: Kysely<StoreTables>;
  dialect: StoreDialect;
  /** Milliseconds since 1970. */
  now: () => number;
}

/**
 * Runs `work` in one transaction that holds the write lock from the start. Do nothing slow inside (no compression, no
 * files): every other process waits meanwhile.
 */
export function inTransaction<T>(context: StoreContext, work: (context: StoreContext) => Promise<T>): Promise<T> {
  if (context.db.isTransaction) return work(context);
  return context.db.transaction().execute((db) => work({ ...context, db }));
}

/** Slices of at most `size`, so that one statement's parameters stay below every database's limit. */
export function* slices<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
