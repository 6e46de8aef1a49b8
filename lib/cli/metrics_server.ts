import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DartError, messageOf } from '../errors.ts';
import { codeOf, fileError } from '../stream/errno.ts';
import { isLoopback } from '../stream/loopback.ts';
import { PROMETHEUS_TYPE } from '../stream/prometheus.ts';
import { parseAddress, urlOf } from './address.ts';
import { resolvePath } from './input.ts';
import { logOf } from './log.ts';
import type { CommandContext } from './spec.ts';

export interface MetricsServer {
  /** Where it answers: `http://127.0.0.1:9464/metrics`. */
  url: string;
  close(): Promise<void>;
}

/**
 * Serves what `text` gives, in Prometheus's text format, at the address that `--metrics` names; null without the option.
 * It says where on stderr, and never keeps the process alive.
 * @throws DartError for an address that cannot be read, a port in use, and another host than loopback without a token.
 */
export async function serveMetrics(context: CommandContext, text: () => string): Promise<MetricsServer | null> {
  const given = context.options.metrics as string | undefined;
  if (given === undefined) return null;
  const address = parseAddress(given, '--metrics', '127.0.0.1:9464');
  const token = await tokenOf(context);
  if (token === null && !isLoopback(address.host)) {
    throw new DartError('other machines could read the metrics', {
      where: `--metrics ${given}`,
      hint: `--metrics-token FILE, or 127.0.0.1:${address.port}`,
    });
  }
  const server = createServer((request, response) => answer(request, response, { text, token }));
  await listen(server, address, given);
  server.unref();
  const url = `${urlOf({ ...address, port: (server.address() as AddressInfo).port })}/metrics`;
  logOf(context).info(`metrics at ${url}`, { url });
  return { url, close: () => close(server) };
}

async function tokenOf({ io, options }: CommandContext): Promise<string | null> {
  const file = options['metrics-token'] as string | undefined;
  if (file === undefined) return null;
  const path = resolvePath(io, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw fileError(error, 'read the token', path);
  });
  if (text.trim() !== '') return text.trim();
  throw new DartError('the token is empty', { where: path, hint: 'openssl rand -hex 32 > token.txt' });
}

function listen(server: Server, { host, port }: { host: string; port: number }, given: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, given)));
    server.listen(port, host, resolve);
  });
}

function cannotListen(cause: unknown, given: string): DartError {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'the port is in use',
    EACCES: 'no permission for this port',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'there is no such host',
  };
  const reason = reasons[codeOf(cause) ?? ''] ?? messageOf(cause);
  const where = `--metrics ${given}`;
  return new DartError(`cannot offer metrics: ${reason}`, {
    where,
    hint: 'another port, or 0 for any free one',
    cause,
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { text, token }: { text: () => string; token: string | null },
): void {
  const path = (request.url ?? '/').split('?')[0];
  if (request.method !== 'GET' && request.method !== 'HEAD') send(response, 405, 'only GET\n', { allow: 'GET, HEAD' });
  else if (path !== '/metrics') send(response, 404, 'the metrics are at /metrics\n');
  else if (token !== null && !admits(request, token)) {
    send(response, 401, 'a bearer token is wanted\n', { 'www-authenticate': 'Bearer' });
  } else send(response, 200, text(), { 'content-type': PROMETHEUS_TYPE });
}

/** Hashes have one length, and are compared in a time that tells nothing. */
function admits(request: IncomingMessage, token: string): boolean {
  const hash = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(hash(request.headers.authorization ?? ''), hash(`Bearer ${token}`));
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(body);
}
