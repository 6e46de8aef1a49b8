import { createPool } from 'mysql2/promise';
import type { StoreDialect } from '../dialect.ts';
import { type MysqlAddress, mysqlAddress } from './address.ts';
import { mysqlDialect } from './dialect.ts';
import { connectionOptions, inspectServer } from './server.ts';

/** Connections of one process: its writer, its readers and its notes; a cluster has many processes. */
const CONNECTIONS = 3;
const IDLE_MS = 60_000;

export interface OpenMysqlOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Makes the database where it is missing. */
  make: boolean;
}

/** The dialect for the server that a `mysql:` URL names, after a look at it. */
export async function openMysql(
  url: string,
  { env, make }: OpenMysqlOptions,
): Promise<{ dialect: StoreDialect; address: MysqlAddress }> {
  const address = mysqlAddress(url, env);
  const server = await inspectServer(address, make);
  const pool = createPool({
    ...connectionOptions(address),
    connectionLimit: CONNECTIONS,
    maxIdle: 1,
    idleTimeout: IDLE_MS,
  });
  return { dialect: mysqlDialect(pool, server), address };
}
