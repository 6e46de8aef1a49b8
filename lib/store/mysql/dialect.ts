import { createHash } from 'node:crypto';
import { CompiledQuery, type Kysely, MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, sql } from 'kysely';
import type { Pool } from 'mysql2/promise';
import { DartError } from '../../errors.ts';
import type { StoreDialect } from '../dialect.ts';
import type { StoreTables } from '../schema.ts';
import { ServerClock } from './clock.ts';
import { MysqlDriver } from './driver.ts';
import { errnoOf } from './errors.ts';
import type { MysqlServer } from './server.ts';

/** How long one process waits for another one to make the tables. */
const MIGRATION_WAIT_S = 120;
const TABLE_EXISTS = 1050;
const INDEX_EXISTS = 1061;

/** The store's dialect for MySQL 8.0 and MariaDB 10.6, and newer. */
export function mysqlDialect(pool: Pool, server: MysqlServer): StoreDialect {
  const clock = new ServerClock();
  const text = textColumns(server);
  return {
    name: 'mysql',
    kysely: {
      createAdapter: () => new MysqlAdapter(),
      createDriver: () => new MysqlDriver(pool, server, clock),
      createIntrospector: (db) => new MysqlIntrospector(db),
      createQueryCompiler: () => new MysqlQueryCompiler(),
    },
    columns: {
      // An index takes 3072 bytes, at 4 a character: three keys, or two paths.
      key: text('varchar(255)'),
      path: text('varchar(380)'),
      word: text('varchar(24)'),
      text: text('longtext'),
      json: text('longtext'),
      blob: sql`longblob`,
      integer: 'bigint',
      time: 'bigint',
      real: 'double precision',
    },
    keepsStatements: false,
    // Bytes travel as hex digits.
    maxStatementBytes: server.maxPacket / 2 - 4096,
    now: () => clock.now(),
    async tables(db) {
      const query = 'select table_name as name from information_schema.tables where table_schema = database()';
      const { rows } = await db.executeQuery<{ name: string }>(CompiledQuery.raw(query));
      return rows.map((row) => row.name);
    },
    alone: (db, work) => db.connection().execute((connection) => withServerLock(connection, server, work)),
    isThereAlready: (error) => [TABLE_EXISTS, INDEX_EXISTS].includes(errnoOf(error)),
    // Not "insert ignore", which would also ignore a parent that is missing and text that is too long.
    ignoreDuplicates: (query, column) => query.onDuplicateKeyUpdate({ [column]: sql.ref(column) } as never),
    overwriteDuplicates: (query, _keys, columns) =>
      query.onDuplicateKeyUpdate(
        Object.fromEntries(columns.map((column) => [column, sql`values(${sql.ref(column)})`])) as never,
      ),
    lockRows: (query) => query.forUpdate() as typeof query,
    lockFreeRows: (query) => query.forUpdate().skipLocked() as typeof query,
  };
}

/** Compared byte by byte, blanks at the end too: ids are case-sensitive. */
function textColumns({ isMariaDb }: MysqlServer) {
  const collation = sql.raw(isMariaDb ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin');
  return (type: string) => sql`${sql.raw(type)} character set utf8mb4 collate ${collation}`;
}

/** An advisory lock of the server, which a process that dies gives back. */
async function withServerLock<T>(
  db: Kysely<StoreTables>,
  { place }: MysqlServer,
  work: (db: Kysely<StoreTables>) => Promise<T>,
): Promise<T> {
  const database = place.slice(place.lastIndexOf('/') + 1);
  const name = `dart-${createHash('sha256').update(database).digest('hex').slice(0, 32)}`;
  const { rows } = await sql<{ got: number | null }>`select get_lock(${name}, ${MIGRATION_WAIT_S}) as got`.execute(db);
  if (rows[0]?.got !== 1) {
    throw new DartError(`another process has been making the tables for ${MIGRATION_WAIT_S} s`, {
      where: place,
      hint: 'ending it (SHOW PROCESSLIST), then the same command again',
    });
  }
  try {
    return await work(db);
  } finally {
    await sql`select release_lock(${name})`.execute(db).catch(() => {});
  }
}
