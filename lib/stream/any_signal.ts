import { ringAfter, type Timer } from './timer.ts';

/**
 * A signal that aborts with the first of several, or when a time is over. In place of `AbortSignal.any`: in Node 20 the
 * garbage collector takes an `AbortSignal.timeout` that only such a signal holds, and the signal itself from a `fetch`
 * under way; neither aborts then.
 */
export class AnySignal {
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #timer: Timer | undefined;
  readonly #abort: () => void;
  #late = false;

  /**
   * @param sources Those that are undefined never abort.
   * @param limitMs After so long it aborts with a `TimeoutError`. It does not keep the process alive.
   */
  constructor(sources: readonly (AbortSignal | undefined)[], limitMs?: number) {
    this.signal = this.#own.signal;
    this.#sources = sources.filter((source) => source !== undefined);
    this.#abort = () => {
      this.#own.abort(this.#sources.find(({ aborted }) => aborted)?.reason);
      this.release();
    };
    for (const source of this.#sources) source.addEventListener('abort', this.#abort, { once: true });
    if (this.#sources.some(({ aborted }) => aborted)) this.#abort();
    else if (limitMs !== undefined) this.#timer = ringAfter(limitMs, () => this.#expire()).unref();
  }

  /** The time was over before any of the signals aborted. */
  get late(): boolean {
    return this.#late;
  }

  /** It aborts no more: to be called when nobody needs it, since the sources may live for long. */
  release(): void {
    this.#timer?.stop();
    for (const source of this.#sources) source.removeEventListener('abort', this.#abort);
  }

  #expire(): void {
    this.#late = true;
    this.#own.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    this.release();
  }
}
