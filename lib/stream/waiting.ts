import { ringAfter } from './timer.ts';

/**
 * Waits for input, and measures time by it: the clock runs only while there is nothing to read. A curate that is held
 * up by a slow trainer does not take the rollouts that pile up unread for missing ones.
 *
 * Races between promises would do the same, but each would leave something behind in the promise that lives longer.
 */
export class Waiting {
  readonly #signal: AbortSignal;
  readonly #tickMs: number | null;
  #clock = 0;
  #watched: Promise<unknown> | null = null;
  #settled = false;
  #wake: () => void = () => {};

  /** @param tickMs how long `for` waits at most; null waits as long as it takes. */
  constructor(signal: AbortSignal, tickMs: number | null = null) {
    this.#signal = signal;
    this.#tickMs = tickMs;
  }

  /** Milliseconds waited so far. */
  get clock(): number {
    return this.#clock;
  }

  /** What `next` gives, or `tick` when it takes too long, or `stop` once the signal aborts. */
  async for<T>(next: Promise<T>): Promise<T | 'tick' | 'stop'> {
    const start = performance.now();
    this.#watch(next);
    if (!this.#settled && !this.#signal.aborted) await this.#sleep();
    this.#clock += performance.now() - start;
    if (this.#signal.aborted) return 'stop';
    return this.#settled ? next : 'tick';
  }

  /** Once per promise, however many ticks it takes. */
  #watch(next: Promise<unknown>): void {
    if (this.#watched === next) return;
    this.#watched = next;
    this.#settled = false;
    const settle = () => {
      if (this.#watched !== next) return;
      this.#settled = true;
      this.#wake();
    };
    next.then(settle, settle);
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        timer?.stop();
        this.#signal.removeEventListener('abort', wake);
        this.#wake = () => {};
        resolve();
      };
      const timer = this.#tickMs === null ? undefined : ringAfter(this.#tickMs, wake);
      this.#signal.addEventListener('abort', wake);
      this.#wake = wake;
    });
  }
}

/**
 * The items of a stream until the signal aborts: then it ends at once, also while the stream is waiting for more. What
 * the stream would have given next is let go, and so is an error that the abort itself causes in it.
 */
export async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  const iterator = stream[Symbol.asyncIterator]();
  const waiting = new Waiting(signal);
  try {
    while (!signal.aborted) {
      const next = await waiting.for(iterator.next());
      if (typeof next === 'string' || next.done) return;
      yield next.value;
    }
  } finally {
    leave(iterator);
  }
}

/** Ends a stream without waiting for it: one that waits for input ends its own waiting only when input comes. */
export function leave(iterator: AsyncIterator<unknown>): void {
  void iterator.return?.()?.catch(() => {});
}
