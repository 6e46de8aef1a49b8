import { setTimeout as sleep } from 'node:timers/promises';
import { DartError, messageOf } from '../errors.ts';

export interface RetryOptions {
  /** Times that a request is made before giving up. OSWorld's controller: 3. */
  tries: number;
  /** Pause between two tries, ms. OSWorld's controller: 5000. */
  retryDelayMs: number;
  signal?: AbortSignal;
}

export interface GuestRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: Record<string, unknown> | FormData | URLSearchParams;
  timeoutMs: number;
  /** Statuses that are an answer, not a failure. */
  accept?: number[];
  /** May be repeated though the guest may have got it. Without it only a refused connection is tried again. */
  idempotent: boolean;
}

/** Errors of `fetch` that mean that nothing has reached the guest. */
const UNREACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Makes a request of a guest's server; rejects with a DartError that names the guest and says what went wrong. */
export async function requestGuest(
  where: string,
  url: string,
  request: GuestRequest,
  options: RetryOptions,
): Promise<Response> {
  let problem: unknown;
  for (let attempt = 1; attempt <= options.tries; attempt++) {
    if (attempt > 1) await sleep(options.retryDelayMs, undefined, { signal: options.signal }).catch(() => {});
    if (options.signal?.aborted) throw new DartError('the run was stopped', { where, cause: options.signal.reason });
    try {
      const response = await fetch(url + request.path, initOf(request, options.signal));
      if (response.ok || request.accept?.includes(response.status)) return response;
      problem = new Error(`status ${response.status}: ${await complaint(response)}`);
      if (!request.idempotent || (response.status >= 400 && response.status < 500)) break;
    } catch (error) {
      problem = error;
      if (!request.idempotent && !UNREACHED.has(codeOf(error))) break;
    }
  }
  throw new DartError(`${request.method} ${request.path} failed: ${reasonOf(problem)}`, {
    where: `${where} (${url})`,
    hint: 'whether the desktop is up: GET /screenshot',
    cause: problem,
  });
}

function initOf(request: GuestRequest, signal: AbortSignal | undefined): RequestInit {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const init: RequestInit = { method: request.method, signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
  const { body } = request;
  if (body instanceof FormData || body instanceof URLSearchParams) return { ...init, body };
  if (body === undefined) return init;
  return { ...init, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

async function complaint(response: Response): Promise<string> {
  const text = await response.text().catch(() => '');
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'message' in value) return String(value.message);
  } catch {
    // Not JSON: shown as it is.
  }
  return text.slice(0, 200);
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  return code === '' ? messageOf(error) : code;
}
