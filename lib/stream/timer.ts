/**
 * The longest delay that Node's timers take, just under 25 days. A longer one becomes 1 ms there, with nothing but a
 * warning: a run of 30 days would end at once.
 */
export const LONGEST_NODE_MS = 2 ** 31 - 1;

/** A timer of any length, in as many of Node's as that takes. */
export interface Timer {
  /** It rings no more. */
  stop(): void;
  /** It does not keep the process alive. */
  unref(): Timer;
}

/** Calls `ring` once, after `ms`, however long that is; with Infinity never. */
export function ringAfter(ms: number, ring: () => void): Timer {
  return new Chain(ms, ring, false);
}

/** Calls `ring` every `ms`, however long that is, until it is stopped. */
export function ringEvery(ms: number, ring: () => void): Timer {
  return new Chain(ms, ring, true);
}

/** Resolves after `ms`, however long that is; rejects with the signal's reason when it aborts first. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = ringAfter(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    const abort = () => {
      timer.stop();
      reject(signal!.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

class Chain implements Timer {
  readonly #ms: number;
  readonly #ring: () => void;
  readonly #again: boolean;
  #timer: NodeJS.Timeout;
  #holds = true;

  constructor(ms: number, ring: () => void, again: boolean) {
    this.#ms = ms;
    this.#ring = ring;
    this.#again = again;
    this.#timer = this.#wind(ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  unref(): Timer {
    this.#holds = false;
    this.#timer.unref();
    return this;
  }

  #wind(left: number): NodeJS.Timeout {
    const part = Math.min(left, LONGEST_NODE_MS);
    const timer = setTimeout(() => this.#over(left - part), part);
    return this.#holds ? timer : timer.unref();
  }

  #over(left: number): void {
    if (left > 0) {
      this.#timer = this.#wind(left);
      return;
    }
    // Wound first: what rings may stop it, or throw.
    if (this.#again) this.#timer = this.#wind(this.#ms);
    this.#ring();
  }
}
