import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DartError, messageOf } from '../../errors.ts';
import type { Size } from '../../guest/guest.ts';
import { ServerFailure } from '../../policy/openai/failure.ts';
import { NoPolicyLeft, type WorkerPool } from '../worker_pool.ts';
import { checkAccess } from './access.ts';
import { chunksOf, completionOf } from './chat_answer.ts';
import { readChatRequest } from './chat_request.ts';
import { readJson } from './read_json.ts';
import { badRequest, Refusal } from './refusal.ts';
import { ServiceMetrics } from './service_metrics.ts';
import { upToStop } from './stop_texts.ts';
import { takeVersion } from './take_version.ts';

export interface ServiceOptions {
  pool: WorkerPool;
  /** The only size of screen that the policy reads, where there is one. */
  screen?: Size;
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Null: everybody on this machine may ask. */
  token: string | null;
  /** Whether new versions are taken over HTTP. */
  updates: boolean;
  /** More requests than these at once are told to come again later. */
  maxRequests: number;
  onError?: (message: string) => void;
}

/** The pool as one endpoint that speaks OpenAI's chat completions. */
export class PolicyService {
  readonly metrics = new ServiceMetrics();
  readonly #options: ServiceOptions;
  readonly #server: Server;
  readonly #busy = new Set<ServerResponse>();
  readonly #created = Math.floor(Date.now() / 1000);

  private constructor(options: ServiceOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Throws a DartError where nothing can listen at that address. */
  static async start(options: ServiceOptions): Promise<PolicyService> {
    const service = new PolicyService(options);
    const { host, port } = options;
    await new Promise<void>((resolve, reject) => {
      service.#server.once('error', (cause) => {
        const hint = 'another --port or --host';
        reject(new DartError(`cannot listen: ${messageOf(cause)}`, { where: `${host}:${port}`, hint, cause }));
      });
      service.#server.listen(port, host, resolve);
    });
    return service;
  }

  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Requests under way. */
  get requests(): number {
    return this.#busy.size;
  }

  /** Takes no new requests, and lets those under way end for so long; `onGivenUp` is told when that was too short. */
  async close(graceMs = 0, onGivenUp: () => void = () => {}): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const end = performance.now() + graceMs;
    while (this.#busy.size > 0 && performance.now() < end) await sleep(10);
    if (this.#busy.size > 0) onGivenUp();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#busy.add(response);
    try {
      await this.#route(request, response);
    } catch (error) {
      this.#refuse(response, error);
    } finally {
      this.#busy.delete(response);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pool, token, updates } = this.#options;
    const route = `${request.method} ${(request.url ?? '/').split('?')[0]}`;
    if (route === 'GET /health') {
      const up = pool.workers.some(({ state }) => state !== 'out');
      return send(response, up ? 200 : 503, { status: up ? 'ok' : 'no policy worker is left' });
    }
    checkAccess(request, token);
    switch (route) {
      case 'POST /v1/chat/completions':
        return this.#complete(request, response);
      case 'GET /v1/models':
        return send(response, 200, { object: 'list', data: [this.#model()] });
      case 'GET /get_model_info':
        return send(response, 200, {
          model_path: pool.name,
          is_generation: true,
          weight_version: String(pool.oldestVersion),
        });
      case 'GET /metrics':
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
        response.end(this.metrics.text(pool));
        return;
      case 'POST /update_weights_from_disk':
        if (!updates) throw new Refusal(403, 'permission_error', 'this server takes no versions over HTTP (--updates)');
        return send(response, 200, await takeVersion(pool, await readJson(request)));
      default:
        throw new Refusal(404, 'not_found_error', `there is no ${route}`);
    }
  }

  async #complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pool, screen, maxRequests } = this.#options;
    if (this.#busy.size > maxRequests) {
      throw new Refusal(429, 'rate_limit_error', `there are ${maxRequests} requests already`, { 'retry-after': '1' });
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the client has left')));
    const began = performance.now();
    const read = readChatRequest(await readJson(request), { model: pool.name, screen }, gone.signal);
    const whole = await pool.act(read.request);
    this.metrics.took(whole.tokenIds.length, performance.now() - began);
    const reply = upToStop(whole, read.form.stop);
    const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: pool.name };
    if (!read.form.stream) return send(response, 200, completionOf(reply, read.form, head));
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    for (const chunk of chunksOf(reply, read.form, head)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  }

  #model(): object {
    const { name, coordinates } = this.#options.pool;
    return { id: name, object: 'model', created: this.#created, owned_by: 'dart', root: name, coordinates };
  }

  #refuse(response: ServerResponse, error: unknown): void {
    if (response.destroyed || response.socket === null) {
      this.metrics.abandoned += 1;
      return;
    }
    const refusal = refusalOf(error);
    if (refusal.status < 500) this.metrics.refused += 1;
    else {
      this.metrics.failed += 1;
      this.#options.onError?.(refusal.message);
    }
    if (response.headersSent) response.destroy();
    else send(response, refusal.status, refusal.body, refusal.headers);
  }
}

/** Whose fault it was: the request's, that of a server behind this one, or ours. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const message = messageOf(error);
  if (error instanceof NoPolicyLeft) return new Refusal(503, 'service_unavailable', message, { 'retry-after': '5' });
  if (!(error instanceof ServerFailure)) return new Refusal(500, 'server_error', message);
  if (error.kind === 'refused') return badRequest(message);
  return new Refusal(error.kind === 'timeout' ? 504 : 502, 'server_error', message);
}

function send(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  const bytes = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
  response.end(bytes);
}
