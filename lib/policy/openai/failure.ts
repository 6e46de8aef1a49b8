import { DartError, type DartErrorOptions } from '../../errors.ts';

/**
 * What went wrong with a request to a server:
 * - `unreachable`: nothing has reached it; nobody listens there, or it is restarting
 * - `timeout`: no whole answer in time
 * - `busy`: it asks to come again later (429, 503)
 * - `broken`: an answer that is none: status 5xx, a connection reset, half a JSON, an aborted reply
 * - `refused`: it will never answer this request (other 4xx)
 */
export type FailureKind = 'unreachable' | 'timeout' | 'busy' | 'broken' | 'refused';

export interface ServerFailureOptions extends DartErrorOptions {
  retryAfterMs?: number | null;
  status?: number;
}

/** A request to a server that did not give a whole answer. */
export class ServerFailure extends DartError {
  readonly kind: FailureKind;
  /** What the server said about when to come again. */
  readonly retryAfterMs: number | null;

  /** HTTP status of the answer, where there was one. */
  readonly status: number | null;

  constructor(kind: FailureKind, message: string, options: ServerFailureOptions = {}) {
    super(message, options);
    this.name = 'ServerFailure';
    this.kind = kind;
    this.status = options.status ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Whether the same request may be answered if it is made again, without anything else changing. */
export function isPassing(error: unknown): error is ServerFailure {
  return error instanceof ServerFailure && (error.kind === 'busy' || error.kind === 'broken');
}

/** Whether the request itself is to blame: too long, or of a form that this server does not take. Any server would say so. */
export function isRequestsFault(error: unknown): boolean {
  return error instanceof ServerFailure && [400, 413, 422].includes(error.status ?? 0);
}
