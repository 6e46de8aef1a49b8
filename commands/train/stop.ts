import { AnySignal } from '../../lib/stream/any_signal.ts';
import { LimitReached } from '../../lib/training/stopping.ts';

/** Everything that may end a run early: a signal, a reader that has left, `--max-seconds`. */
export class StopSwitch {
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  readonly #any: AnySignal;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal, maxSeconds: number | null) {
    this.#any = new AnySignal([outer, this.#own.signal]);
    this.signal = this.#any.signal;
    if (maxSeconds === null) return;
    this.#timer = setTimeout(() => this.stop(new LimitReached('max-seconds')), maxSeconds * 1000);
  }

  stop(reason: unknown): void {
    this.#own.abort(reason);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#any.release();
  }
}
