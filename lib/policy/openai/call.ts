import { messageOf } from '../../errors.ts';
import { type FailureKind, ServerFailure } from './failure.ts';
import { parseServerJson } from './json.ts';

export interface ServerCall {
  method?: 'GET' | 'POST';
  /** Sent as JSON. */
  body?: unknown;
  /** For the whole exchange, the last byte of the answer included. Node's fetch gives up after 300 s by itself. */
  timeoutMs: number;
  /** Sent as `Authorization: Bearer …`; never part of a message. */
  apiKey?: string;
  signal?: AbortSignal;
}

/** Codes of `fetch` that mean that nobody got the request. */
const UNREACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const TOO_LATE = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const LONGEST_COMPLAINT = 300;
const LONGEST_WORDS = 100;

/**
 * One request, one whole answer, as text.
 * @throws ServerFailure for anything else; the signal's reason when it aborts.
 */
export async function callServer(url: string, call: ServerCall): Promise<string> {
  const { method = 'POST', body, timeoutMs, apiKey, signal } = call;
  // By hand: a signal of AbortSignal.any may be collected as garbage in Node 20, and then never aborts.
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new DOMException('too late', 'TimeoutError')), timeoutMs);
  const onAbort = () => end.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method,
      redirect: 'error',
      signal: end.signal,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw noAnswer(error, url, timeoutMs);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
  if (response.ok) return text;
  throw complaint(response, text, url);
}

/**
 * As `callServer`; the answer as JSON. Half a JSON is no answer.
 * @throws ServerFailure: `broken` for half a JSON, `refused` for a page, and for an error that came with status 200.
 */
export async function callJson(url: string, call: ServerCall): Promise<unknown> {
  const text = await callServer(url, call);
  let value: unknown;
  try {
    value = parseServerJson(text);
  } catch (cause) {
    if (isPage(text))
      throw new ServerFailure('refused', `the answer is ${pageWords(text)}`, { where: url, hint: WHOSE, cause });
    throw new ServerFailure('broken', `the answer is no whole JSON (${text.length} characters)`, { where: url, cause });
  }
  if (typeof value !== 'object' || value === null || !('error' in value) || !value.error) return value;
  throw new ServerFailure('broken', `the answer is an error with status 200: ${messageIn(text)}`, { where: url });
}

const WHOSE = "whether this is the address of an OpenAI server's API, without a login page before it";

function isPage(text: string): boolean {
  return /^\s*(?:<!doctype|<html|<head|<body|<\?xml)/i.test(text);
}

/** The first words of a web page, without its marks. */
function pageWords(text: string): string {
  const words = text
    .slice(0, 4000)
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_WORDS);
  return words === '' ? 'a web page' : `a web page: ${words}`;
}

function noAnswer(error: unknown, url: string, timeoutMs: number): ServerFailure {
  const code = codeOf(error);
  const late = (error instanceof Error && error.name === 'TimeoutError') || TOO_LATE.has(code);
  const options = { where: url, cause: error };
  if (late) {
    return new ServerFailure('timeout', `no whole answer within ${timeoutMs / 1000} s`, {
      ...options,
      hint: 'a longer --request-timeout, or fewer desktops for each server',
    });
  }
  if (UNREACHED.has(code)) {
    return new ServerFailure('unreachable', `nobody answers there (${code})`, {
      ...options,
      hint: 'whether the server is up and the address is right',
    });
  }
  const reason = code === '' ? messageOf((error as Error).cause ?? error) : code;
  return new ServerFailure('broken', `the connection broke (${reason})`, options);
}

function complaint(response: Response, text: string, where: string): ServerFailure {
  const { status } = response;
  const kind: FailureKind = status === 429 || status === 503 ? 'busy' : status >= 500 ? 'broken' : 'refused';
  const hint =
    status === 401 || status === 403
      ? 'the variable DART_API_KEY, or OPENAI_API_KEY, with the key of the server'
      : undefined;
  const retryAfterMs = retryAfter(response.headers.get('retry-after'), Date.now());
  return new ServerFailure(kind, `status ${status}: ${messageIn(text)}`, { where, hint, retryAfterMs, status });
}

/** `Retry-After` in ms: seconds, or a date; null where there is none or it cannot be read. */
export function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** What the server says of an error: `error.message` (OpenAI, SGLang), `message` (vLLM), `detail` (FastAPI), or all. */
function messageIn(text: string): string {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    const error = value.error as Record<string, unknown> | string | undefined;
    const said = (typeof error === 'object' ? error?.message : error) ?? value.message ?? value.detail;
    if (said !== undefined) return (typeof said === 'string' ? said : JSON.stringify(said)).slice(0, LONGEST_COMPLAINT);
  } catch {
    // Not JSON: shown as it is.
  }
  return (isPage(text) ? pageWords(text) : text.trim().slice(0, LONGEST_COMPLAINT)) || 'no reason given';
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
}
