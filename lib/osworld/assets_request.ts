import { DartError } from '../errors.ts';
import { AnySignal } from '../stream/any_signal.ts';

/** How often a server may send somebody on to another address. */
const REDIRECTS = 6;
const IDLE_MS = 60_000;

/** A server's answer to a request for a file or the rest of it. */
export interface Answer {
  status: number;
  /** The strong ETag: equal ones mean equal bytes. Null where there is none. */
  etag: string | null;
  /** Size of the whole file, where the server says it. */
  total: number | null;
  /** Where what is sent begins. */
  from: number;
  /** sha256 that the server says the file has; Hugging Face does, of large files. */
  promised: string | null;
  body: AsyncIterable<Uint8Array>;
  close(): void;
}

/**
 * Asks for a file from byte `offset` on, following redirections, which are looked at on the way: Hugging Face tells the
 * sha256 of a file with the first of them. The body ends with an error where nothing comes for `idleMs`.
 * @throws DartError for an address that is not http(s); otherwise what the connection says.
 */
export async function askFor(
  url: string,
  offset: number,
  { signal, idleMs = IDLE_MS }: { signal?: AbortSignal; idleMs?: number },
): Promise<Answer> {
  const idle = new AbortController();
  const either = new AnySignal([signal, idle.signal]);
  let timer: NodeJS.Timeout | undefined;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => idle.abort(new Error(`nothing came for ${idleMs / 1000} s`)), idleMs);
    timer.unref();
  };
  // Sizes and ranges are those of the file itself only where nobody compresses it on the way.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (offset > 0) headers.range = `bytes=${offset}-`;
  let address = url;
  let promised: string | null = null;
  try {
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      requireHttp(address, url);
      alive();
      const response = await fetch(address, { headers, redirect: 'manual', signal: either.signal }).catch(
        (error: unknown) => Promise.reject(causeOf(error, idle.signal)),
      );
      promised ??= sha256In(response.headers.get('x-linked-etag'));
      const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
      if (next === null) {
        const close = () => {
          clearTimeout(timer);
          either.release();
          void response.body?.cancel().catch(() => {});
        };
        return { ...readHeaders(response), promised, body: bodyOf(response, alive, idle.signal), close };
      }
      await response.body?.cancel();
      address = new URL(next, address).href;
    }
    throw new DartError(`the server sends on to another address more than ${REDIRECTS} times`, { where: url });
  } catch (error) {
    clearTimeout(timer);
    either.release();
    throw error;
  }
}

function requireHttp(address: string, where: string): void {
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return;
  const what = address === where ? 'it is no http address' : `it leads to ${address.slice(0, 100)}, no http address`;
  throw new DartError(what, { where, hint: '--assets DIR with the files of the tasks' });
}

function readHeaders({ status, headers }: Response): Pick<Answer, 'status' | 'etag' | 'total' | 'from'> {
  const etag = headers.get('etag');
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '');
  const length = headers.get('content-encoding') === null ? headers.get('content-length') : null;
  return {
    status,
    etag: etag?.startsWith('"') ? etag : null,
    total: range ? Number(range[2]) : length === null ? null : Number(length),
    from: range ? Number(range[1]) : 0,
  };
}

function sha256In(etag: string | null): string | null {
  return /^"?([0-9a-f]{64})"?$/.exec(etag ?? '')?.[1] ?? null;
}

async function* bodyOf(response: Response, alive: () => void, idle: AbortSignal): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  try {
    for await (const chunk of response.body) {
      alive();
      yield chunk;
    }
  } catch (error) {
    throw causeOf(error, idle);
  }
}

/** Node's fetch says "fetch failed" and keeps the reason to itself. */
function causeOf(error: unknown, idle: AbortSignal): unknown {
  if (idle.aborted) return idle.reason;
  const cause = (error as { cause?: unknown }).cause;
  return cause instanceof Error && cause.message !== '' ? cause : error;
}

/** What an answer without a file means. */
export function tellOfStatus(status: number, url: string): DartError {
  const known: Record<number, [string, string]> = {
    401: ['it is not open to everybody (HTTP 401)', '--assets DIR with the files of the tasks'],
    403: ['the server refuses it (HTTP 403)', '--assets DIR with the files of the tasks'],
    404: ['the server has no such file (HTTP 404)', '--assets DIR with the files of the tasks, or --mirror URL'],
    429: ['the server is asked too often (HTTP 429)', 'later, or dart-eval fetch-assets with a smaller --parallel'],
  };
  const [message, hint] = known[status] ?? [`the server answers HTTP ${status}`, 'later, or --mirror URL'];
  return new DartError(message, { where: url, hint });
}
