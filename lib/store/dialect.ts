import type { ColumnDataType, Dialect, InsertQueryBuilder, RawBuilder, SelectQueryBuilder } from 'kysely';
import type { StoreTables } from './schema.ts';

type ColumnType = ColumnDataType | RawBuilder<unknown>;

/**
 * Everything in which databases differ. All other code of this room is Kysely without a word of one database's own
 * SQL, so that a further database is one more object of this type.
 */
export interface StoreDialect {
  readonly name: string;
  /** Connection, transactions (which must take the write lock when they begin) and errors. */
  readonly kysely: Dialect;
  readonly columns: {
    /** Short text that may be a key. */
    key: ColumnType;
    text: ColumnType;
    /** Text of any length. */
    json: ColumnType;
    blob: ColumnType;
    integer: ColumnType;
    /** Milliseconds since 1970. */
    time: ColumnType;
    real: ColumnType;
  };
  /** Inserts the rows whose key is new and leaves the rest alone; the result counts the new ones. */
  ignoreDuplicates<T extends keyof StoreTables>(
    query: InsertQueryBuilder<StoreTables, T, unknown>,
  ): InsertQueryBuilder<StoreTables, T, unknown>;
  /** Inserts, or where the key exists overwrites `columns` with the new values. */
  overwriteDuplicates<T extends keyof StoreTables>(
    query: InsertQueryBuilder<StoreTables, T, unknown>,
    keys: readonly (keyof StoreTables[T] & string)[],
    columns: readonly (keyof StoreTables[T] & string)[],
  ): InsertQueryBuilder<StoreTables, T, unknown>;
  /** Rows read in a transaction in order to change them: locks them and passes over those that others hold. */
  // biome-ignore lint/suspicious/noExplicitAny: any selection of any tables
  lockRows<Q extends SelectQueryBuilder<StoreTables, any, any>>(query: Q): Q;
}
