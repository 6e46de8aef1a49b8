import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DartError, messageOf } from '../errors.ts';
import type { Guest } from './guest.ts';
import { BadRequest, readBody } from './http_body.ts';
import { ROUTES } from './http_routes.ts';
import type { PointerPlace } from './pyautogui.ts';

/** Loopback only: whoever reaches the port can use the desktop. */
const HOST = '127.0.0.1';

export interface GuestServer {
  /** `http://127.0.0.1:41231` */
  url: string;
  port: number;
  close(): Promise<void>;
}

export interface GuestServerOptions {
  /** 0 takes any free port. */
  port?: number;
}

/** Puts any guest on the endpoints of OSWorld's server (reference/osworld.md §1). */
export async function serveGuest(guest: Guest, options: GuestServerOptions = {}): Promise<GuestServer> {
  const { port = 0 } = options;
  const desk = new Desk(guest);
  const server = createServer((request, response) => {
    desk
      .answer(request, response)
      .catch((error: unknown) => send(response, 500, { status: 'error', message: messageOf(error) }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new DartError(`cannot listen on ${HOST}:${port}: ${messageOf(cause)}`, {
          where: guest.id,
          hint: 'another --port',
          cause,
        }),
      );
    });
    server.listen(port, HOST, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One desktop behind the endpoints: requests are answered one after another, as they share its screen. */
class Desk {
  private readonly guest: Guest;
  private readonly pointer: PointerPlace = { x: 0, y: 0 };
  private last: Promise<unknown> = Promise.resolve();

  constructor(guest: Guest) {
    this.guest = guest;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const route = ROUTES[`${request.method} ${path}`];
    if (!route) {
      send(response, 404, { status: 'error', message: `no endpoint ${request.method} ${path}` });
      return;
    }
    try {
      const body = await readBody(request);
      const turn = this.last.then(() => route({ guest: this.guest, pointer: this.pointer, body }));
      this.last = turn.catch(() => {});
      const reply = await turn;
      if ('bytes' in reply) sendBytes(response, reply.status ?? 200, reply.bytes, reply.type);
      else send(response, reply.status ?? 200, reply.json);
    } catch (error) {
      const status = error instanceof BadRequest ? error.status : 500;
      send(response, status, { status: 'error', message: messageOf(error) });
    }
  }
}

function send(response: ServerResponse, status: number, value: unknown): void {
  sendBytes(response, status, new TextEncoder().encode(JSON.stringify(value)), 'application/json');
}

function sendBytes(response: ServerResponse, status: number, bytes: Uint8Array, type: string): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': type, 'content-length': bytes.length });
  response.end(bytes);
}
