import { DartError } from '../../errors.ts';
import type { Guest } from '../../guest/guest.ts';

/** Answers why a call to a desktop failed: the pod's end where it ended, else the error itself. */
export type Explain = (error: unknown) => Promise<unknown>;

/**
 * The same guest, except that a call that fails is explained first: a pod that was evicted is not a desktop that "does
 * not answer".
 */
export function explainedGuest<T extends Guest>(guest: T, explain: Explain): T {
  return new Proxy(guest, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args);
        return result instanceof Promise
          ? result.catch(async (error: unknown) => Promise.reject(await explain(error)))
          : result;
      };
    },
  });
}

/** Whether no answer came at all; a guest that says "no" is alive. */
export function isSilence(error: unknown): boolean {
  const cause = error instanceof DartError ? error.cause : error;
  if (!(cause instanceof Error)) return false;
  return cause instanceof TypeError || ['TimeoutError', 'AbortError'].includes(cause.name) || 'code' in cause;
}
