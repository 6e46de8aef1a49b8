import { ringAfter, type Timer } from '../stream/timer.ts';

/** How a run ends early: first nothing new begins, then what is under way is abandoned. */
export interface Stopping {
  /** No new rollout begins. */
  stop: AbortSignal;
  /** Rollouts under way are abandoned. */
  abort: AbortSignal;
  /** Forgets the timer; call it when the run is over. */
  dispose(): void;
}

/**
 * Turns the one signal of a command into two: `graceMs` after it aborts, what is still under way is abandoned. Where
 * `atOnce` says so of its reason (the reader has gone, so nobody wants what is under way), both abort together.
 */
export function stoppingOf(signal: AbortSignal, graceMs: number, atOnce: (reason: unknown) => boolean): Stopping {
  const abort = new AbortController();
  let timer: Timer | undefined;
  const onStop = () => {
    if (graceMs <= 0 || atOnce(signal.reason)) abort.abort(signal.reason);
    else timer = ringAfter(graceMs, () => abort.abort(signal.reason));
  };
  if (signal.aborted) onStop();
  else signal.addEventListener('abort', onStop, { once: true });
  return {
    stop: signal,
    abort: abort.signal,
    dispose: () => {
      timer?.stop();
      signal.removeEventListener('abort', onStop);
    },
  };
}
