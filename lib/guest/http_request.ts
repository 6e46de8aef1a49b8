import { setTimeout as sleep } from 'node:timers/promises';
import { DartError, messageOf } from '../errors.ts';
import { AnySignal } from '../stream/any_signal.ts';
import type { GuestAddress } from './http_address.ts';
import { exchange, type GuestAnswer, NoAnswer, type Outgoing } from './http_exchange.ts';

export interface RetryOptions {
  /** Times that a request is made before giving up. OSWorld's controller: 3. */
  tries: number;
  /** Pause between two tries, ms. OSWorld's controller: 5000. */
  retryDelayMs: number;
  signal?: AbortSignal;
}

export interface GuestRequest extends Outgoing {
  timeoutMs: number;
  /** Statuses that are an answer, not a failure. */
  accept?: number[];
  /** May be repeated though the guest may have got it. Without it only a connection that was never made is tried again. */
  idempotent: boolean;
  /** What is wrong with an answer, if something is: then it is asked for again. */
  complaint?: (bytes: Uint8Array) => string | null;
  signal?: AbortSignal;
}

/** An answer that is a failure: the `cause` of the DartError. Its message begins with `status 404`. */
export class FailedAnswer extends Error {
  readonly status: number;

  constructor(status: number, complaint: string) {
    super(status === 200 ? complaint : `status ${status}: ${complaint}`);
    this.status = status;
  }
}

/** A status that says that the guest will give the same answer again. */
const isFinal = (status: number) => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** Makes a request of a guest's server; rejects with a DartError that names the guest and says what went wrong. */
export async function requestGuest(
  id: string,
  address: GuestAddress,
  request: GuestRequest,
  options: RetryOptions,
): Promise<GuestAnswer> {
  const where = id === address.url ? id : `${id} (${address.url})`;
  const stops = [options.signal, request.signal].filter((signal) => signal !== undefined);
  let problem: Problem = { reason: 'it was not tried' };
  for (let attempt = 1; attempt <= options.tries; attempt++) {
    if (attempt > 1) await pause(options.retryDelayMs, stops);
    const stopped = stops.find((signal) => signal.aborted);
    if (stopped) throw new DartError('the run was stopped', { where, cause: stopped.reason });
    const result = await attemptOnce(address, request, stops);
    if ('bytes' in result) return result;
    problem = result;
    if (result.final) break;
  }
  throw new DartError(`${request.method} ${request.path} failed: ${problem.reason}`, {
    where,
    hint: problem.hint,
    cause: problem.cause,
  });
}

interface Problem {
  reason: string;
  hint?: string;
  cause?: unknown;
  /** Not to be tried again. */
  final?: boolean;
}

/** As long, or until it is told to stop. */
async function pause(ms: number, stops: readonly AbortSignal[]): Promise<void> {
  const stop = new AnySignal(stops);
  await sleep(ms, undefined, { signal: stop.signal }).catch(() => {});
  stop.release();
}

async function attemptOnce(
  address: GuestAddress,
  request: GuestRequest,
  stops: AbortSignal[],
): Promise<GuestAnswer | Problem> {
  const stop = new AnySignal(stops, request.timeoutMs);
  try {
    const answer = await exchange(address, request, stop.signal);
    const { status, bytes } = answer;
    if (request.accept?.includes(status)) return answer;
    const wrong = status === 200 ? (request.complaint?.(bytes) ?? null) : complaintIn(bytes);
    if (wrong === null) return answer;
    const cause = new FailedAnswer(status, wrong);
    const hint = status === 401 ? "the desktop's token in its URL: http://:TOKEN@HOST:PORT" : undefined;
    return { reason: cause.message, hint, cause, final: !request.idempotent || isFinal(status) };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const maybePlayed = error.sent && !request.idempotent;
    const reason = stop.late ? `no answer within ${request.timeoutMs / 1000} s` : reasonOf(error);
    const hint = maybePlayed
      ? 'another desktop: nobody knows whether this one still did it'
      : 'whether the desktop is up: GET /screenshot';
    return { reason, hint, cause: error, final: maybePlayed };
  } finally {
    stop.release();
  }
}

function reasonOf(error: NoAnswer): string {
  const code = error.code === '' ? messageOf(error) : error.code;
  if (error.begun) return `the desktop went away in the middle of its answer (${code})`;
  if (error.sent) return `the desktop went away before it answered (${code})`;
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') return `there is no such host (${code})`;
  return `nobody answers there (${code})`;
}

/** What a failure's body says, for people. */
function complaintIn(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, 65_536));
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) {
      const said = 'message' in value ? value.message : 'error' in value ? value.error : undefined;
      if (typeof said === 'string') return said;
    }
  } catch {
    // Not JSON: shown as it is.
  }
  return text.slice(0, 200);
}
