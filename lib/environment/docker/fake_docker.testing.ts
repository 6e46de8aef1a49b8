import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the fake has been asked: the path without its query. */
export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: string;
}

/** What it answers: a status with a body, nothing for ever, or whatever Docker would. */
export type Answer = { status: number; body: unknown } | 'hang' | undefined;

export const ID = 'c0ffee0123456789c0ffee0123456789c0ffee0123456789c0ffee0123456789';

/** Docker's API on a socket of its own, which does what a test says and otherwise pretends that all is well. */
export class FakeDocker {
  readonly asked: Asked[] = [];
  readonly host: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'dart-fake-docker-'));
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #answer: (asked: Asked) => Answer;

  /** @param answer Undefined leaves it to the fake. */
  constructor(answer: (asked: Asked) => Answer) {
    this.#answer = answer;
    this.host = `unix://${join(this.#folder, 'docker.sock')}`;
  }

  async start(): Promise<this> {
    this.#server.listen(join(this.#folder, 'docker.sock'));
    await once(this.#server, 'listening');
    return this;
  }

  /** `POST /containers/create`, in their order. */
  get calls(): string[] {
    return this.asked.map(({ method, path }) => `${method} ${path}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://docker');
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    // A build context is no text.
    const body = request.headers['content-type'] === 'application/tar' ? '' : Buffer.concat(pieces).toString();
    const asked = { method: request.method!, path: pathname, query: searchParams, body };
    this.asked.push(asked);
    const answer = this.#answer(asked) ?? usual(asked);
    if (answer === 'hang') return;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  }
}

function usual({ method, path }: Asked): Exclude<Answer, undefined> {
  if (path === '/_ping') return { status: 200, body: 'OK' };
  if (path === '/networks' || path === '/containers/json') return { status: 200, body: [] };
  if (path === '/networks/create') return { status: 201, body: { Id: 'n' } };
  if (path === '/containers/create') return { status: 201, body: { Id: ID } };
  if (path.endsWith('/start') || method === 'DELETE') return { status: 204, body: '' };
  if (path.endsWith('/wait')) return 'hang';
  if (path.endsWith('/logs')) return { status: 200, body: '' };
  return { status: 200, body: { Id: 'sha256:1', Size: 1 } };
}
