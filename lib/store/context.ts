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
 * Runs `work` in one transaction. On SQLite it holds the write lock from the start; on MySQL it holds what it has
 * locked or written, and another one may have to be undone for it: `Steady` runs that again. Do nothing slow inside (no
 * compression, no files): others wait meanwhile.
 */
export function inTransaction<T>(context: StoreContext, work: (context: StoreContext) => Promise<T>): Promise<T> {
  if (context.db.isTransaction) return work(context);
  return context.db.transaction().execute((db) => work({ ...context, db }));
}

/** Slices of at most `size`, so that one statement's parameters stay below every database's limit. */
export function* slices<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** As `slices`, and none with more than `bytes` bytes unless it has one item. */
export function* slicesOfBytes<T>(
  items: readonly T[],
  size: number,
  bytes: number,
  bytesOf: (item: T) => number,
): Generator<readonly T[]> {
  let start = 0;
  let sum = 0;
  for (let i = 0; i < items.length; i++) {
    const own = bytesOf(items[i]!);
    if (i > start && (i - start === size || sum + own > bytes)) {
      yield items.slice(start, i);
      start = i;
      sum = 0;
    }
    sum += own;
  }
  if (start < items.length) yield items.slice(start);
}
