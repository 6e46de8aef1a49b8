/**
 * Waits for input, and measures time by it: the clock runs only while there is nothing to read. A curate that is held
 * up by a slow trainer does not take the rollouts that pile up unread for missing ones.
 */
export class Waiting {
  readonly #signal: AbortSignal;
  readonly #tickMs: number;
  #clock = 0;
  #watched: Promise<unknown> | null = null;
  #settled = false;
  #wake: () => void = () => {};

  /** @param tickMs how long `for` waits at most. */
  constructor(signal: AbortSignal, tickMs: number) {
    this.#signal = signal;
    this.#tickMs = tickMs;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
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

  /** Once per promise: a race against it at every tick would leave a reaction behind each time. */
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
      const timer = setTimeout(() => this.#wake(), this.#tickMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
