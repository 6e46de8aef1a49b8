import { AnySignal } from '../../lib/stream/any_signal.ts';
import { ringAfter, type Timer } from '../../lib/stream/timer.ts';
import { LimitReached } from '../../lib/training/stopping.ts';

/** Everything that may end a run early: a signal, a reader that has left, `--max-seconds`. */
export class StopSwitch {
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  readonly #any: AnySignal;
  readonly #timer: Timer | undefined;

  constructor(outer: AbortSignal, maxSeconds: number | null) {
    this.#any = new AnySignal([outer, this.#own.signal]);
    this.signal = this.#any.signal;
    if (maxSeconds === null) return;
    this.#timer = ringAfter(maxSeconds * 1000, () => this.stop(new LimitReached('max-seconds')));
  }

  stop(reason: unknown): void {
    this.#own.abort(reason);
  }

  release(): void {
    this.#timer?.stop();
    this.#any.release();
  }
}
