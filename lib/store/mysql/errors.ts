import { DartError } from '../../errors.ts';
import { StoreTrouble, type TroubleKind } from '../trouble.ts';

interface Explanation {
  /** Error numbers of the server, or codes of the client library and the system. */
  codes: readonly (string | number)[];
  /** Null: what the server itself says. */
  message: string | null;
  hint: string;
  kind?: TroubleKind;
}

const AWAY_HINT = 'starting the server; looking at the host and the port of --store';

/** https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html; MariaDB has the same numbers. */
const EXPLANATIONS: readonly Explanation[] = [
  { codes: [1213, 1205, 1020], message: null, hint: 'the same command again', kind: 'conflict' },
  { codes: ['ECONNREFUSED'], message: 'no server answers there', hint: AWAY_HINT, kind: 'away' },
  { codes: ['ENOENT'], message: 'there is no such socket', hint: AWAY_HINT, kind: 'away' },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    message: 'the host is not known',
    hint: 'another host in --store',
    kind: 'away',
  },
  {
    codes: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'PROTOCOL_SEQUENCE_TIMEOUT'],
    message: 'the server does not answer',
    hint: AWAY_HINT,
    kind: 'away',
  },
  {
    codes: ['ECONNRESET', 'EPIPE', 'PROTOCOL_CONNECTION_LOST', 'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR'],
    message: 'the connection broke off',
    hint: AWAY_HINT,
    kind: 'away',
  },
  {
    codes: [1053, 1077, 1079, 1317, 1927, 2006, 2013, 4031],
    message: 'the server ended the connection',
    hint: AWAY_HINT,
    kind: 'away',
  },
  {
    codes: [1040, 1203, 1226],
    message: 'the server has too many connections',
    hint: 'a larger max_connections',
    kind: 'away',
  },
  { codes: [1290, 1792, 1836], message: 'the server is read-only', hint: 'the address of the primary', kind: 'away' },
  {
    codes: [1045, 1698, 'ER_ACCESS_DENIED_NO_PASSWORD_ERROR'],
    message: 'the server does not let this user in',
    hint: 'the user in --store, the password in DART_MYSQL_PASSWORD',
  },
  {
    codes: [1044, 1142, 1227, 1143],
    message: null,
    hint: 'GRANT ALL PRIVILEGES on this database to the user',
  },
  {
    codes: ['HANDSHAKE_NO_SSL_SUPPORT'],
    message: 'the server has no TLS',
    hint: 'the address without ssl=…, or a server with certificates',
  },
  {
    codes: ['HANDSHAKE_SSL_ERROR', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'CERT_HAS_EXPIRED'],
    message: "the server's certificate is not trusted",
    hint: 'ssl-ca=FILE in the address, or ssl=unverified',
  },
  { codes: [3159], message: 'the server takes connections with TLS only', hint: 'ssl=required in the address' },
  {
    codes: [1153, 1301],
    message: 'a record is larger than the server takes',
    hint: 'a larger max_allowed_packet (SET GLOBAL max_allowed_packet = 1073741824)',
  },
  { codes: [1406], message: null, hint: 'a shorter id; ids have at most 255 characters' },
  {
    codes: [3, 28, 1021, 1114],
    message: 'no space left for the store',
    hint: 'freeing disk space on the server, then the same command again',
    kind: 'stuck',
  },
  { codes: [1030, 1026, 1035], message: null, hint: "looking at the server's disk and log", kind: 'stuck' },
];

/** A DartError for what the server or the network says; errors that are bugs of ours come back unchanged. */
export function explainMysqlError(error: unknown, place: string): unknown {
  if (error instanceof DartError || !(error instanceof Error)) return error;
  const { code, errno } = error as { code?: string; errno?: number };
  const known = EXPLANATIONS.find(({ codes }) => codes.some((one) => one === errno || one === code));
  if (!known) return error;
  const message = `${known.message ?? error.message} (${code ?? errno})`;
  const options = { where: place, hint: known.hint, cause: error };
  return known.kind ? new StoreTrouble(known.kind, message, options) : new DartError(message, options);
}

/** The server's number of an error, 0 where it has none. */
export function errnoOf(error: unknown): number {
  const { errno } = error as { errno?: unknown };
  return typeof errno === 'number' ? errno : 0;
}
