export interface CircuitOptions {
  /** After so many failures in a row nothing more is sent. */
  failures?: number;
  /** After that, how long until it is tried again; each trial that fails doubles it. */
  coolDownMs?: number;
  longestCoolDownMs?: number;
  now?: () => number;
}

/** `closed`: all is well. `open`: nothing is sent. `half-open`: one request at a time, to see. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** A circuit breaker: whether to send requests to something that may be broken. */
export class Circuit {
  #state: CircuitState = 'closed';
  #failures = 0;
  #coolDownMs: number;
  #openedAt = 0;
  readonly #options: Required<CircuitOptions>;

  constructor(options: CircuitOptions = {}) {
    const { failures = 5, coolDownMs = 1000, longestCoolDownMs = 15_000, now = () => performance.now() } = options;
    this.#options = { failures, coolDownMs, longestCoolDownMs, now };
    this.#coolDownMs = coolDownMs;
  }

  get state(): CircuitState {
    return this.#state;
  }

  /** Open for long enough that it should be looked at again. */
  get due(): boolean {
    return this.#state === 'open' && this.#options.now() - this.#openedAt >= this.#coolDownMs;
  }

  /**
   * @param certain it is known to be down, whatever went well before.
   * @returns whether the circuit went open with this failure.
   */
  failed(certain = false): boolean {
    this.#failures += 1;
    if (this.#state === 'open') {
      if (this.due) this.#open(2 * this.#coolDownMs);
      return false;
    }
    if (this.#state === 'half-open') {
      this.#open(2 * this.#coolDownMs);
      return true;
    }
    if (!certain && this.#failures < this.#options.failures) return false;
    this.#open(this.#options.coolDownMs);
    return true;
  }

  /** A request went well. @returns whether the circuit was closed by it. */
  succeeded(): boolean {
    // A late answer of a request from before says nothing about now.
    if (this.#state === 'open') return false;
    const closed = this.#state === 'half-open';
    this.#state = 'closed';
    this.#failures = 0;
    return closed;
  }

  /** It looks well again: the next request is the trial. */
  tryAgain(): void {
    if (this.#state === 'open') this.#state = 'half-open';
  }

  #open(coolDownMs: number): void {
    this.#state = 'open';
    this.#coolDownMs = Math.min(coolDownMs, this.#options.longestCoolDownMs);
    this.#openedAt = this.#options.now();
  }
}
