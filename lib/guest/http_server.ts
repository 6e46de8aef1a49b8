import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DartError, messageOf } from '../errors.ts';
import type { Guest } from './guest.ts';
import { admit, checkAccess } from './http_access.ts';
import { BadRequest, readBody } from './http_body.ts';
import type { DeskState, Reply } from './http_call.ts';
import { Lanes } from './http_lanes.ts';
import { ROUTES, type Route, reset } from './http_routes.ts';

/** Connections stay open between the steps of a rollout, ms. */
const KEEP_ALIVE_MS = 75_000;
/** For a request to come in whole: the client's own limit for an upload, ms. */
const REQUEST_MS = 600_000;

/** For what comes in after its answer, ms. */
const DRAIN_MS = 10_000;

export interface GuestServer {
  /** `http://127.0.0.1:41231`; without the token. */
  url: string;
  port: number;
  close(): Promise<void>;
}

export interface GuestServerOptions {
  /** 0 takes any free port. */
  port?: number;
  /** Loopback where it is absent: whoever reaches the port can use the desktop. Another host needs a token, or `open`. */
  host?: string;
  /** Clients must show it (http_access.ts). */
  token?: string;
  /** Another host without a token: inside a container whose port is published on loopback only. */
  open?: boolean;
  /** Whether `/setup/download_file` may fetch: true where this process is in the desktop's own network. */
  downloads?: boolean;
}

/** Puts any guest on the endpoints of OSWorld's server (docs/guest-server.md). */
export async function serveGuest(guest: Guest, options: GuestServerOptions = {}): Promise<GuestServer> {
  const { port = 0, host = '127.0.0.1', token, open = false, downloads = false } = options;
  checkAccess(host, token, open);
  const desk = new Desk(guest, token, downloads);
  const server = createServer((request, response) => void desk.answer(request, response));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = REQUEST_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new DartError(`cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
          where: guest.id,
          hint: 'another --port',
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${reachable(host)}:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The name by which this machine reaches a server on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** One desktop behind the endpoints. */
class Desk {
  private readonly guest: Guest;
  private readonly token: string | undefined;
  private readonly downloads: boolean;
  private readonly lanes = new Lanes();
  private readonly state: DeskState = { recording: false };

  constructor(guest: Guest, token: string | undefined, downloads: boolean) {
    this.guest = guest;
    this.token = token;
    this.downloads = downloads;
  }

  /** Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const route = Object.hasOwn(ROUTES, path) ? ROUTES[path]! : null;
    try {
      admit(request, this.token);
      send(response, await this.reply(path, route, request, response));
    } catch (error) {
      // What is still coming in would keep the connection from its end.
      if (!request.complete) response.setHeader('connection', 'close');
      request.resume();
      if (error instanceof BadRequest && error.status === 401) response.setHeader('www-authenticate', 'Basic');
      const status = error instanceof BadRequest ? error.status : (route?.failure ?? 500);
      const message = messageOf(error);
      send(response, { status, json: { status: 'error', message, error: message } }, request);
    }
  }

  private async reply(
    path: string,
    route: Route | null,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Reply> {
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
    const allowed = path === '/reset' ? 'POST' : route?.method;
    if (allowed === undefined) throw new BadRequest(404, `no endpoint ${path}`);
    if (method !== allowed) {
      response.setHeader('allow', allowed);
      throw new BadRequest(405, `${path} wants ${allowed}, not ${request.method}`);
    }
    const { guest, lanes, state, downloads } = this;
    const shared = { guest, lanes, state, downloads, body: await readBody(request) };
    if (!route) return reset(shared);
    return lanes.run(leaving(guest, response), (signal) => route.handler({ ...shared, signal }));
  }
}

/** Aborted when the client closes its connection before it has its answer. */
function leaving(guest: Guest, response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) left.abort(new DartError('the client has left', { where: guest.id }));
  });
  return left.signal;
}

/** @param rest Its answer comes before it has: what is still on its way is taken in for a while, or the client would see a broken connection instead. */
function send(response: ServerResponse, reply: Reply, rest?: IncomingMessage): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = 'bytes' in reply ? reply.bytes : new TextEncoder().encode(JSON.stringify(reply.json));
  const type = 'bytes' in reply ? reply.type : 'application/json';
  response.writeHead(reply.status ?? 200, { 'content-type': type, 'content-length': bytes.length });
  if (!rest || rest.complete || rest.destroyed) return void response.end(bytes);
  response.write(bytes);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DRAIN_MS);
  rest.once('end', end).once('close', end);
}
