import { Agent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import type { GuestAddress } from './http_address.ts';

export interface Outgoing {
  method: 'GET' | 'POST';
  path: string;
  body?: Record<string, unknown> | FormData | URLSearchParams;
}

export interface GuestAnswer {
  status: number;
  bytes: Uint8Array;
}

/** A request that got no answer, or half of one. */
export class NoAnswer extends Error {
  /** Whether the guest may have got it. */
  readonly sent: boolean;
  /** Whether an answer had begun. */
  readonly begun: boolean;
  readonly code: string;

  constructor(cause: Error & { code?: string }, sent: boolean, begun: boolean) {
    super(cause.message, { cause });
    this.sent = sent;
    this.begun = begun;
    this.code = cause.code ?? '';
  }
}

/** A desktop is asked several times a step: connections are kept. */
const AGENT = new Agent({ keepAlive: true });
const SECURE_AGENT = new SecureAgent({ keepAlive: true });

/**
 * One request and its whole answer. Not `fetch`: that gives up after five minutes without an answer, and opening a file
 * may take half an hour; and it does not say whether a request had been sent.
 * @throws NoAnswer
 */
export async function exchange(address: GuestAddress, out: Outgoing, signal: AbortSignal): Promise<GuestAnswer> {
  const { headers, bytes } = await encode(out.body);
  if (address.authorization !== undefined) headers.authorization = address.authorization;
  const secure = address.url.startsWith('https:');
  const options: RequestOptions = { method: out.method, headers, signal, agent: secure ? SECURE_AGENT : AGENT };
  return new Promise((resolve, reject) => {
    let sent = false;
    const request = (secure ? requestHttps : requestHttp)(address.url + out.path, options);
    request.once('socket', (socket) => {
      if (!socket.connecting) sent = true;
      else socket.once(secure ? 'secureConnect' : 'connect', () => (sent = true));
    });
    request.on('error', (error) => reject(new NoAnswer(error, sent, false)));
    request.once('response', (response) => {
      readAll(response).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, bytes }),
        (error: Error) => reject(new NoAnswer(error, true, true)),
      );
    });
    request.end(bytes);
  });
}

async function encode(body: Outgoing['body']): Promise<{ headers: Record<string, string>; bytes: Uint8Array }> {
  if (body === undefined) return { headers: { 'content-length': '0' }, bytes: new Uint8Array() };
  const form = body instanceof FormData || body instanceof URLSearchParams;
  const encoded = new Response(form ? body : JSON.stringify(body));
  const type = form ? (encoded.headers.get('content-type') ?? '') : 'application/json';
  const bytes = new Uint8Array(await encoded.arrayBuffer());
  return { headers: { 'content-type': type, 'content-length': String(bytes.length) }, bytes };
}

async function readAll(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}
