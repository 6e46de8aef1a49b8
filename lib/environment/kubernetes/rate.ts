import { delay } from '../../stream/timer.ts';

/** Time, so that tests can have their own. Milliseconds. */
export interface Clock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const REAL_CLOCK: Clock = { now: () => performance.now(), sleep: delay };

/**
 * Lets requests through at `qps` a second after the first `burst`, in the order in which they came. `pause` holds all
 * of them: where the server says "later" to one, the others need not ask.
 */
export class RateGate {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #counted: number;
  #pausedUntil = 0;
  #queue: Promise<void> = Promise.resolve();

  constructor(qps: number, burst: number, clock: Clock = REAL_CLOCK) {
    this.#qps = qps;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#counted = clock.now();
  }

  /** Resolves when a request may go. */
  pass(): Promise<void> {
    const turn = this.#queue.then(() => this.#take());
    this.#queue = turn;
    return turn;
  }

  /** Nothing passes for so long, ms. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + ms);
  }

  async #take(): Promise<void> {
    for (;;) {
      const now = this.#clock.now();
      this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#counted) / 1000) * this.#qps);
      this.#counted = now;
      const wait = Math.max(this.#pausedUntil - now, ((1 - this.#tokens) / this.#qps) * 1000);
      if (wait <= 1e-6) break;
      await this.#clock.sleep(wait);
    }
    this.#tokens -= 1;
  }
}
