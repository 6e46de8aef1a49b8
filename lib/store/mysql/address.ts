import type { ConnectionOptions } from 'mysql2/promise';
import { DartError } from '../../errors.ts';
import { readPem } from './pem.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a `mysql://` URL says. */
export interface MysqlAddress {
  host: string;
  port: number;
  /** Path of a Unix socket, in place of host and port. */
  socket: string | null;
  user: string;
  password: string;
  database: string;
  ssl: ConnectionOptions['ssl'];
  /** How long to wait for a server that is away; null where the URL does not say. */
  patienceMs: number | null;
  /** `HOST:PORT/DATABASE`, for messages. */
  place: string;
}

const FORM = 'mysql://USER@HOST:PORT/DATABASE, the password in DART_MYSQL_PASSWORD';
const PARAMETERS = ['patience', 'socket', 'ssl', 'ssl-ca'];

/**
 * Reads `mysql://USER:PASSWORD@HOST:PORT/DATABASE?patience=S&ssl=required|unverified&ssl-ca=FILE&socket=PATH` (or
 * `mariadb://`). The password may come from DART_MYSQL_PASSWORD instead. No message repeats the URL.
 */
export function mysqlAddress(text: string, env: Environment): MysqlAddress {
  const url = parse(text);
  const user = decode(url.username);
  const database = decode(url.pathname.slice(1));
  if (user === '') throw refused('it names no user');
  if (database === '' || database.includes('/')) throw refused('it does not name one database');
  if (database.length > 64) throw refused('the name of its database is longer than 64 characters');
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.includes(name)) throw refused(`unknown parameter "${name}"`, PARAMETERS.join(', '));
  }
  const socket = url.searchParams.get('socket');
  const host = url.hostname.replace(/^\[|\]$/g, '') || 'localhost';
  const port = url.port === '' ? 3306 : Number(url.port);
  return {
    ...{ host, port, socket, user, database },
    password: decode(url.password) || env.DART_MYSQL_PASSWORD || '',
    ssl: sslOf(url.searchParams),
    patienceMs: patienceOf(url.searchParams),
    place: `${socket ?? `${host.includes(':') ? `[${host}]` : host}:${port}`}/${database}`,
  };
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // The error of URL would show the password.
    throw refused('it cannot be read');
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refused('a % in it is not followed by two hex digits', 'writing % as %25');
  }
}

function patienceOf(parameters: URLSearchParams): number | null {
  const text = parameters.get('patience');
  if (text === null) return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  throw refused(`patience must be seconds, not "${text}"`, 'patience=60');
}

function sslOf(parameters: URLSearchParams): MysqlAddress['ssl'] {
  const mode = parameters.get('ssl');
  const file = parameters.get('ssl-ca');
  if (mode === null && file === null) return undefined;
  if (mode !== null && mode !== 'required' && mode !== 'unverified') {
    throw refused(`"${mode}" is no value of ssl`, 'ssl=required or ssl=unverified');
  }
  return { rejectUnauthorized: mode !== 'unverified', ...(file === null ? {} : { ca: readPem(file) }) };
}

function refused(what: string, hint = FORM): DartError {
  return new DartError(`this is not the address of a MySQL store: ${what}`, { where: '--store', hint });
}
