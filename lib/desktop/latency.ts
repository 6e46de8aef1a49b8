import { setTimeout as sleep } from 'node:timers/promises';
import { hash } from './session/random.ts';

export interface LatencyOptions {
  /** How long one action takes. */
  stepMs?: number;
  /** How long a reset takes. */
  resetMs?: number;
  /** How long an evaluation takes. */
  evaluateMs?: number;
  /** Share by which waits vary, 0..1: a wait lies in [1 - jitter, 1 + jitter] of its mean, evenly. */
  jitter?: number;
  seed?: number;
}

/** Makes the embedded desktop as slow as real ones are, for measurements of the system around it. Off by default. */
export class LatencyModel {
  private readonly options: Required<LatencyOptions>;
  private drawn = 0;

  constructor(options: LatencyOptions) {
    this.options = { stepMs: 0, resetMs: 0, evaluateMs: 0, jitter: 0, seed: 0, ...options };
  }

  step(): Promise<void> | undefined {
    return this.wait(this.options.stepMs);
  }

  reset(): Promise<void> | undefined {
    return this.wait(this.options.resetMs);
  }

  /** How long the next evaluation is to take, in ms; whoever evaluates waits. */
  evaluation(): number {
    return this.draw(this.options.evaluateMs);
  }

  /** The next wait around a mean, in ms. */
  draw(mean: number): number {
    const uniform = hash(this.options.seed, `wait ${this.drawn++}`) / 2 ** 32;
    return mean * (1 + this.options.jitter * (2 * uniform - 1));
  }

  private wait(mean: number): Promise<void> | undefined {
    return mean > 0 ? sleep(this.draw(mean)) : undefined;
  }
}
