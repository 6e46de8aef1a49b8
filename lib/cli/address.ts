import { isIPv6 } from 'node:net';
import { DartError } from '../errors.ts';

export interface Address {
  host: string;
  port: number;
}

/**
 * `HOST:PORT`, `[IPv6]:PORT`, or just `PORT` or `:PORT` for loopback.
 * @param where The option, for messages.
 * @throws DartError for anything else.
 */
export function parseAddress(text: string, where: string, hint: string): Address {
  const match = /^(?:\[([^\]]+)\]:|([^:[\]\s/]*):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const bad = !match || port > 65535 || (match[1] !== undefined && !isIPv6(match[1]));
  if (bad) throw new DartError(`expected HOST:PORT but received '${text}'`, { where, hint });
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port };
}

/** `http://127.0.0.1:9464`; IPv6 in brackets. */
export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
