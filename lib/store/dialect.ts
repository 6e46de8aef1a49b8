import type {
  ColumnDataType,
  Dialect,
  InsertQueryBuilder,
  InsertResult,
  Kysely,
  RawBuilder,
  SelectQueryBuilder,
} from 'kysely';
import type { StoreTables } from './schema.ts';

type ColumnType = ColumnDataType | RawBuilder<unknown>;

/**
 * Everything in which databases differ. All other code of this room is Kysely without a word of one database's own
 * SQL, so that a further database is one more object of this type.
 */
export interface StoreDialect {
  readonly name: 'sqlite' | 'mysql';
  /** Connection, transactions and errors; those that are the database's trouble come as `StoreTrouble`. */
  readonly kysely: Dialect;
  readonly columns: {
    /** An id or a name: may be a key, is compared byte by byte. */
    key: ColumnType;
    /** An id that is made of several others. */
    path: ColumnType;
    /** One of a few short words. */
    word: ColumnType;
    text: ColumnType;
    /** Text of any length. */
    json: ColumnType;
    blob: ColumnType;
    integer: ColumnType;
    /** Milliseconds since 1970. */
    time: ColumnType;
    real: ColumnType;
  };
  /** Whether a statement whose text was there before costs less: prepared statements are kept. */
  readonly keepsStatements: boolean;
  /** Bytes that the parameters of one statement may come to. */
  readonly maxStatementBytes: number;
  /** Milliseconds since 1970 by the one clock that all who share the store go by. */
  now(): number;
  /** Names of the tables that are there. */
  tables(db: Kysely<StoreTables>): Promise<string[]>;
  /** Runs `work` while no other process runs its own: for migrations. Undone on errors where the database can. */
  alone<T>(db: Kysely<StoreTables>, work: (db: Kysely<StoreTables>) => Promise<T>): Promise<T>;
  /** True for the error of making a table or an index that is there: a migration that was cut off is going on. */
  isThereAlready(error: unknown): boolean;
  /** Inserts the rows whose key is new and leaves the rest alone; the result counts the new ones. */
  ignoreDuplicates<T extends keyof StoreTables>(
    query: InsertQueryBuilder<StoreTables, T, InsertResult>,
    /** A column of the table, any. */
    column: keyof StoreTables[T] & string,
  ): InsertQueryBuilder<StoreTables, T, InsertResult>;
  /** Inserts, or where the key exists overwrites `columns` with the new values. */
  overwriteDuplicates<T extends keyof StoreTables>(
    query: InsertQueryBuilder<StoreTables, T, InsertResult>,
    keys: readonly (keyof StoreTables[T] & string)[],
    columns: readonly (keyof StoreTables[T] & string)[],
  ): InsertQueryBuilder<StoreTables, T, InsertResult>;
  /** Rows read in a transaction in order to change them: locks them, and waits for those that others hold. */
  // biome-ignore lint/suspicious/noExplicitAny: any selection of any tables
  lockRows<Q extends SelectQueryBuilder<StoreTables, any, any>>(query: Q): Q;
  /** As `lockRows`, but passes over those that others hold. */
  // biome-ignore lint/suspicious/noExplicitAny: any selection of any tables
  lockFreeRows<Q extends SelectQueryBuilder<StoreTables, any, any>>(query: Q): Q;
}
