import type { Database } from 'better-sqlite3';
import { CompiledQuery, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { StoreDialect } from '../dialect.ts';
import { SqliteDriver } from './driver.ts';

/** The store's dialect for an open SQLite file. */
export function sqliteDialect(database: Database): StoreDialect {
  return {
    name: 'sqlite',
    kysely: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new SqliteDriver(database),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    columns: {
      key: 'text',
      path: 'text',
      word: 'text',
      text: 'text',
      json: 'text',
      blob: 'blob',
      integer: 'integer',
      time: 'integer',
      real: 'real',
    },
    keepsStatements: true,
    maxStatementBytes: Number.POSITIVE_INFINITY,
    // All processes at one file are on one machine.
    now: Date.now,
    async tables(db) {
      const sql = "select name from sqlite_master where type = 'table' and name not like 'sqlite%'";
      const { rows } = await db.executeQuery<{ name: string }>(CompiledQuery.raw(sql));
      return rows.map((row) => row.name);
    },
    // The write lock, and tables are made in transactions here.
    alone: (db, work) => db.transaction().execute(work),
    isThereAlready: () => false,
    ignoreDuplicates: (query) => query.onConflict((conflict) => conflict.doNothing()),
    overwriteDuplicates: (query, keys, columns) =>
      query.onConflict((conflict) =>
        conflict
          .columns(keys as never)
          .doUpdateSet(
            (eb) =>
              Object.fromEntries(columns.map((column) => [column, eb.ref(`excluded.${column}` as never)])) as never,
          ),
      ),
    // The transaction already holds the one write lock.
    lockRows: (query) => query,
    lockFreeRows: (query) => query,
  };
}
