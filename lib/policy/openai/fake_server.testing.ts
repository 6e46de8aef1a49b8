import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { modelsOf, vllmCompletion } from './shapes.testing.ts';

export interface Asked {
  method: string;
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  body: any;
  headers: IncomingMessage['headers'];
}

/** What the fake server does with one request. */
export type Behaviour = (response: ServerResponse, asked: Asked) => void;

/** A whole answer, as JSON (or text as it is). */
export const answers =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof value === 'string' ? value : JSON.stringify(value));
  };

/** No answer, ever. */
export const hangs: Behaviour = () => {};

/** The connection is reset before a byte of the answer. */
export const resets: Behaviour = (response) => response.socket?.resetAndDestroy();

/** Half of an answer that was announced whole, then a reset. */
export const breaksOff: Behaviour = (response) => {
  const text = JSON.stringify(vllmCompletion());
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
  response.write(text.slice(0, text.length / 2));
  setTimeout(() => response.socket?.resetAndDestroy(), 5);
};

/** A whole HTTP answer that is half a JSON. */
export const halfJson: Behaviour = (response) => {
  const text = JSON.stringify(vllmCompletion());
  answers(text.slice(0, text.length / 2))(response, undefined as never);
};

/** A byte now and then, for ever. */
export const drips: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{');
  const timer = setInterval(() => response.write(' '), 5);
  response.on('close', () => clearInterval(timer));
};

/**
 * A scriptable inference server. Requests to a path take the behaviours of its script in turn, the last one from then
 * on. Unless told otherwise: a healthy vLLM that always says `Action: wait()`.
 */
export class FakeServer {
  readonly asked: Asked[] = [];
  readonly #server: Server;
  readonly #scripts = new Map<string, Behaviour[]>([
    ['/v1/models', [answers(modelsOf('vllm'))]],
    ['/health', [answers('')]],
    ['/v1/chat/completions', [answers(vllmCompletion())]],
  ]);

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(scripts: Record<string, Behaviour | Behaviour[]> = {}, port = 0): Promise<FakeServer> {
    const fake = new FakeServer();
    for (const [path, script] of Object.entries(scripts)) fake.on(path, script);
    await fake.listen(port);
    return fake;
  }

  /** What is done with requests to a path (without the part after `?`) from now on. */
  on(path: string, script: Behaviour | Behaviour[]): void {
    this.#scripts.set(path, Array.isArray(script) ? [...script] : [script]);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The requests to one path. */
  to(path: string): Asked[] {
    return this.asked.filter((asked) => asked.path.split('?')[0] === path);
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  /** Nobody answers here any more. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { method = 'GET', url: path = '/', headers } = request;
    const asked = { method, path, headers, body: text === '' ? undefined : JSON.parse(text) };
    this.asked.push(asked);
    const script = this.#scripts.get(path.split('?')[0]!) ?? [answers({ detail: 'Not Found' }, 404)];
    (script.length > 1 ? script.shift()! : script[0]!)(response, asked);
  }
}
