import type { Outcome, Trajectory } from '../stream/records.ts';
import { OUTCOMES } from '../stream/records.ts';

/** How many of the newest scored trajectories the running success rate is taken over. */
const RECENT = 100;

/** Counts of a run, for progress and for the summary. */
export class Tally {
  trajectories = 0;
  steps = 0;
  parseErrors = 0;
  /** Tokens without a log-probability: null, NaN or a placeholder where the server should have said one. */
  unscoredTokens = 0;
  readonly outcomes: Record<Outcome, number> = Object.fromEntries(OUTCOMES.map((name) => [name, 0])) as never;
  readonly #began = performance.now();
  readonly #recent: number[] = [];
  #rewards = 0;
  #scored = 0;

  add({ outcome, reward, steps }: Pick<Trajectory, 'outcome' | 'reward' | 'steps'>): void {
    this.trajectories += 1;
    this.steps += steps.length;
    this.parseErrors += steps.filter((step) => step.parse_error !== undefined).length;
    for (const { response } of steps) this.unscoredTokens += response.logprobs.filter((value) => value === null).length;
    this.outcomes[outcome] += 1;
    if (reward === null) return;
    this.#scored += 1;
    this.#rewards += reward;
    this.#recent.push(reward);
    if (this.#recent.length > RECENT) this.#recent.shift();
  }

  get wallMs(): number {
    return performance.now() - this.#began;
  }

  get perMinute(): number {
    return (this.trajectories * 60_000) / Math.max(1, this.wallMs);
  }

  get scored(): number {
    return this.#scored;
  }

  /** Trajectories that ended in an error and have no reward. */
  get errors(): number {
    return this.trajectories - this.#scored;
  }

  /** Mean reward of all scored trajectories; null when there is none. */
  get meanReward(): number | null {
    return this.#scored === 0 ? null : this.#rewards / this.#scored;
  }

  /** Mean reward of the newest 100 scored trajectories. */
  get recentReward(): number | null {
    if (this.#recent.length === 0) return null;
    return this.#recent.reduce((sum, reward) => sum + reward, 0) / this.#recent.length;
  }
}
