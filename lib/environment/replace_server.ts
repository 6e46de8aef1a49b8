import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { messageOf } from '../errors.ts';
import type { Env } from '../stream/records.ts';

/** An HTTP client gives up on an answer of which nothing comes; spaces before the JSON keep it waiting. */
const ALIVE_MS = 10_000;
const MOST_BYTES = 10_000;

/**
 * Lets those who use the desktops ask for a clean one in the place of a used one: `POST {"env_id"}` to its URL, which
 * nobody can guess. The answer is the new desktop's record, or `{"error"}`.
 */
export class ReplaceServer {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async open(replace: (envId: string) => Promise<Env>): Promise<ReplaceServer> {
    const path = `/replace/${randomBytes(16).toString('hex')}`;
    const server = createServer((request, response) => {
      if (request.method === 'POST' && request.url === path) void answer(request, response, replace);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new ReplaceServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  replace: (envId: string) => Promise<Env>,
): Promise<void> {
  response.on('error', () => {});
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(' ');
  const alive = setInterval(() => response.write(' '), ALIVE_MS);
  try {
    const length = Number(request.headers['content-length'] ?? 0);
    const body: unknown = length <= MOST_BYTES ? JSON.parse(await text(request)) : null;
    response.end(JSON.stringify(await replace(String((body as { env_id?: unknown } | null)?.env_id))));
  } catch (error) {
    response.end(JSON.stringify({ error: messageOf(error) }));
  } finally {
    clearInterval(alive);
  }
}
