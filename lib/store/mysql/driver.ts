import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely';
import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2/promise';
import { DartError } from '../../errors.ts';
import type { ServerClock } from './clock.ts';
import { explainMysqlError } from './errors.ts';
import type { MysqlServer } from './server.ts';

/** A statement that takes longer has lost its server. */
const QUERY_TIMEOUT_MS = 120_000;
/** What a statement has beside its text. */
const PACKET_OVERHEAD = 1024;

const SESSION = [
  'set session transaction isolation level read committed',
  "set session innodb_lock_wait_timeout = 20, default_storage_engine = InnoDB, time_zone = '+00:00', " +
    "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
];

/**
 * Kysely's driver over a pool of connections. Each connection is set up once; one whose network failed is thrown away
 * instead of going back into the pool; errors are for people.
 */
export class MysqlDriver implements Driver {
  readonly #pool: Pool;
  readonly #server: MysqlServer;
  readonly #clock: ServerClock;
  readonly #known = new WeakMap<object, MysqlConnection>();

  constructor(pool: Pool, server: MysqlServer, clock: ServerClock) {
    this.#pool = pool;
    this.#server = server;
    this.#clock = clock;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<MysqlConnection> {
    const connection = await this.#connect();
    try {
      if (this.#clock.isStale) await this.#clock.compare(() => connection.serverTime());
      return connection;
    } catch (error) {
      connection.giveBack();
      throw error;
    }
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as MysqlConnection).giveBack();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('start transaction'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A connection that broke has nothing to undo, and its error would hide the first one.
    if (!(connection as MysqlConnection).isBroken) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }

  async #connect(): Promise<MysqlConnection> {
    let raw: PoolConnection;
    try {
      raw = await this.#pool.getConnection();
    } catch (error) {
      throw explainMysqlError(error, this.#server.place);
    }
    // The pool hands out a new wrapper each time; the connection inside is the same.
    const known = this.#known.get(raw.connection);
    if (known) return known;
    const connection = new MysqlConnection(raw, this.#server);
    try {
      for (const statement of SESSION) await connection.executeQuery(CompiledQuery.raw(statement));
    } catch (error) {
      raw.destroy();
      throw error;
    }
    this.#known.set(raw.connection, connection);
    return connection;
  }
}

class MysqlConnection implements DatabaseConnection {
  /** True after an error of the network: nothing more goes through here. */
  isBroken = false;
  readonly #raw: PoolConnection;
  readonly #server: MysqlServer;

  constructor(raw: PoolConnection, server: MysqlServer) {
    this.#raw = raw;
    this.#server = server;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const text = this.#raw.format(sql, parameters.map(asValue));
    this.#checkSize(text);
    try {
      const [result] = await this.#raw.query({ sql: text, timeout: QUERY_TIMEOUT_MS });
      if (Array.isArray(result)) return { rows: result as R[] };
      const { affectedRows, insertId } = result as ResultSetHeader;
      return { rows: [], numAffectedRows: BigInt(affectedRows), insertId: BigInt(insertId) };
    } catch (error) {
      const { fatal, errno } = error as { fatal?: boolean; errno?: number };
      // Numbers from 1000 are answers of the server, who may still be there; all others are the network's.
      if (fatal === true || errno === undefined || errno < 1000) this.isBroken = true;
      throw explainMysqlError(error, this.#server.place);
    }
  }

  // biome-ignore lint/correctness/useYield: the interface wants a generator; the store reads in pages instead
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('the store reads in pages, not in streams');
  }

  /** Milliseconds since 1970 by the server's clock. */
  async serverTime(): Promise<number> {
    const query = CompiledQuery.raw('select unix_timestamp(now(3)) * 1000 as time');
    const { rows } = await this.executeQuery<{ time: number | string }>(query);
    return Number(rows[0]!.time);
  }

  giveBack(): void {
    if (this.isBroken) this.#raw.destroy();
    else this.#raw.release();
  }

  /** The server would only break off the connection, which looks like a network that failed. */
  #checkSize(text: string): void {
    const limit = this.#server.maxPacket;
    if (text.length * 4 < limit) return;
    const bytes = Buffer.byteLength(text) + PACKET_OVERHEAD;
    if (bytes <= limit) return;
    throw new DartError(`a record of ${bytes} bytes is larger than the server takes (max_allowed_packet = ${limit})`, {
      where: this.#server.place,
      hint: `SET GLOBAL max_allowed_packet = ${2 ** Math.ceil(Math.log2(bytes))}, then the same command again`,
    });
  }
}

/** Byte arrays that are no Buffer would be written as objects. */
function asValue(value: unknown): unknown {
  if (value instanceof Uint8Array && !Buffer.isBuffer(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return value;
}
