import type { Connection, ConnectionOptions, RowDataPacket } from 'mysql2/promise';
import { DartError } from '../../errors.ts';
import type { MysqlAddress } from './address.ts';
import { errnoOf, explainMysqlError } from './errors.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const UNKNOWN_DATABASE = 1049;
const DATABASE_DENIED = 1044;
/** Databases that have SKIP LOCKED. */
const OLDEST = { mariadb: [10, 6], mysql: [8, 0] } as const;

export interface MysqlServer {
  place: string;
  /** Bytes that one statement may have (max_allowed_packet). */
  maxPacket: number;
  isMariaDb: boolean;
}

/** What mysql2 wants to know for a connection to this address. */
export function connectionOptions(address: MysqlAddress): ConnectionOptions {
  const { host, port, socket, user, password, database, ssl } = address;
  return {
    ...(socket === null ? { host, port } : { socketPath: socket }),
    ...{ user, password, database },
    ...(ssl === undefined ? {} : { ssl }),
    charset: 'utf8mb4',
    connectTimeout: CONNECT_TIMEOUT_MS,
    decimalNumbers: true,
    // Rows that an update leaves as they are do not count, nor do rows of an insert that were there.
    flags: ['-FOUND_ROWS'],
  };
}

/**
 * Looks at the server; makes the database where it is missing and the user may.
 * @param make false for those who only read: then a missing database is an error.
 * @throws DartError where the server cannot be reached, refuses, or is too old.
 */
export async function inspectServer(address: MysqlAddress, make: boolean): Promise<MysqlServer> {
  const connection = await connectOrMake(address, make);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(
      'select version() as version, @@max_allowed_packet as packet',
    );
    const { version, packet } = rows[0] as { version: string; packet: number };
    refuseOlder(version, address.place);
    return { place: address.place, maxPacket: Number(packet), isMariaDb: /mariadb/i.test(version) };
  } catch (error) {
    throw explainMysqlError(error, address.place);
  } finally {
    connection.destroy();
  }
}

/** Refuses servers that lack SKIP LOCKED. */
export function refuseOlder(version: string, place: string): void {
  const kind = /mariadb/i.test(version) ? 'mariadb' : 'mysql';
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const [oldestMajor, oldestMinor] = OLDEST[kind];
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  const name = kind === 'mariadb' ? 'MariaDB' : 'MySQL';
  throw new DartError(`the server is ${name} ${version}, which has no SKIP LOCKED`, {
    where: place,
    hint: `${name} ${oldestMajor}.${oldestMinor} or newer`,
  });
}

async function connectOrMake(address: MysqlAddress, make: boolean): Promise<Connection> {
  const { createConnection } = await import('mysql2/promise');
  try {
    return await createConnection(connectionOptions(address));
  } catch (error) {
    if (errnoOf(error) !== UNKNOWN_DATABASE) throw explain(error, address);
    if (make) return makeDatabase(address, createConnection);
    throw new DartError('there is no such store: the server has no such database', {
      where: address.place,
      hint: 'the --store that dart-rollout was given',
    });
  }
}

async function makeDatabase(
  address: MysqlAddress,
  createConnection: (options: ConnectionOptions) => Promise<Connection>,
): Promise<Connection> {
  const { database: _, ...options } = connectionOptions(address);
  const name = quoted(address.database);
  let connection: Connection | undefined;
  try {
    connection = await createConnection(options);
    await connection.query(`create database if not exists ${name} character set utf8mb4`);
    await connection.query(`use ${name}`);
    return connection;
  } catch (error) {
    connection?.destroy();
    throw explain(error, address);
  }
}

/** The server does not tell a user whether what may not be used is there. */
function explain(error: unknown, { database, user, place }: MysqlAddress): unknown {
  if (errnoOf(error) !== DATABASE_DENIED) return explainMysqlError(error, place);
  const name = quoted(database);
  return new DartError(`there is no database ${database}, or ${user} may not use it`, {
    where: place,
    hint: `as an administrator: CREATE DATABASE IF NOT EXISTS ${name}; GRANT ALL PRIVILEGES ON ${name}.* TO '${user}'@'%'`,
    cause: error,
  });
}

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}
