import { setTimeout as delay } from 'node:timers/promises';
import { isPassing } from './failure.ts';

export interface RetryOptions {
  /** How often a request is made at most, the first time included. */
  tries: number;
  /** Pause before the second try; it doubles from try to try. */
  firstPauseMs: number;
  /** No pause is longer, whatever the server says. */
  longestPauseMs: number;
  signal?: AbortSignal;
  /** 0..1, for the jitter. */
  random?: () => number;
  /** How a pause is made. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export const RETRY_DEFAULTS = { tries: 3, firstPauseMs: 500, longestPauseMs: 30_000 } as const;

/**
 * Makes a request again where that may help: after 429 and 503, when the server says (`Retry-After`), else after a
 * pause that doubles, with jitter, so that many who failed together do not come back together. A server that takes too
 * long, or that nobody answers at, is not asked again here: another one may be.
 */
export async function withRetries<T>(request: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (attempt >= options.tries || !isPassing(error)) throw error;
      await (options.sleep ?? pause)(pauseOf(attempt, error.retryAfterMs, options), options.signal);
      options.signal?.throwIfAborted();
    }
  }
}

/** Ends early, and without a word, when the signal aborts. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}

/** The pause after the `attempt`-th failure (from 1), ms. What the server asks for is a least, never shortened by jitter. */
export function pauseOf(attempt: number, retryAfterMs: number | null, options: RetryOptions): number {
  const { firstPauseMs, longestPauseMs, random = Math.random } = options;
  const share = random();
  if (retryAfterMs !== null) return Math.min(longestPauseMs, retryAfterMs + (firstPauseMs / 2) * share);
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1)) * (0.5 + share / 2);
}
