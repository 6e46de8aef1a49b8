import type { Result, Summary, Trajectory } from '../stream/records.ts';
import { SCHEMA_VERSION } from '../stream/records.ts';
import { type Estimate, wilson } from './interval.ts';

/** What an evaluation keeps of each rollout. */
interface Scored {
  reward: number | null;
  steps: number;
  outcome: Trajectory['outcome'];
}

/** Scores of one task or domain. `score` is null when nothing could be scored. */
export interface Score {
  /** Rollouts that ended with a reward. */
  scored: number;
  rollouts: number;
  /** Sum of rewards. */
  rewards: number;
  score: Estimate | null;
  meanSteps: number;
}

/** Collects trajectories and tells success by task, by domain and in all. Errors are counted apart, never as 0. */
export class Evaluation {
  readonly #tasks = new Map<string, { domain: string; rollouts: Scored[] }>();
  readonly #seen = new Set<string>();

  /** Takes a trajectory once; false where it was taken before (a stream that was joined with itself). */
  add(trajectory: Trajectory): boolean {
    if (this.#seen.has(trajectory.trajectory_id)) return false;
    this.#seen.add(trajectory.trajectory_id);
    const entry = this.#tasks.get(trajectory.task_id) ?? { domain: trajectory.domain, rollouts: [] };
    entry.rollouts.push({ reward: trajectory.reward, steps: trajectory.steps.length, outcome: trajectory.outcome });
    this.#tasks.set(trajectory.task_id, entry);
    return true;
  }

  get tasks(): number {
    return this.#tasks.size;
  }

  /** One `result` record a task, in the order of domain and task. */
  results(): Result[] {
    return this.#sorted().map(([task_id, { domain, rollouts }]) => {
      const { scored, score } = summarise(rollouts);
      return {
        type: 'result',
        v: SCHEMA_VERSION,
        task_id,
        domain,
        score: score?.value ?? null,
        rollouts: rollouts.length,
        scored,
        successes: rollouts.filter((r) => r.outcome === 'success').length,
        mean_steps: mean(rollouts.map((r) => r.steps)),
        outcomes: countOutcomes(rollouts),
      };
    });
  }

  byDomain(): Map<string, Score> {
    const domains = new Map<string, Scored[]>();
    for (const [, { domain, rollouts }] of this.#sorted())
      domains.set(domain, [...(domains.get(domain) ?? []), ...rollouts]);
    return new Map([...domains].map(([domain, rollouts]) => [domain, summarise(rollouts)]));
  }

  total(): Score {
    return summarise([...this.#tasks.values()].flatMap((task) => task.rollouts));
  }

  /** Fields of the closing `summary` record. */
  summary(command: string): Summary {
    const { score, scored, rollouts, meanSteps } = this.total();
    const perTask = this.results().map((result) => result.score);
    return {
      type: 'summary',
      v: SCHEMA_VERSION,
      command,
      success: score?.value ?? null,
      success_low: score?.low ?? null,
      success_high: score?.high ?? null,
      tasks: this.#tasks.size,
      /** Tasks with at least one success, as a share of all. */
      coverage: this.#tasks.size === 0 ? null : perTask.filter((s) => s !== null && s > 0).length / this.#tasks.size,
      rollouts,
      scored,
      mean_steps: meanSteps,
      outcomes: countOutcomes([...this.#tasks.values()].flatMap((task) => task.rollouts)),
    };
  }

  #sorted() {
    return [...this.#tasks].sort(([a, x], [b, y]) => compare(x.domain, y.domain) || compare(a, b));
  }
}

function summarise(rollouts: readonly Scored[]): Score {
  const rewards = rollouts.flatMap((r) => (r.reward === null ? [] : [r.reward]));
  const sum = rewards.reduce((a, b) => a + b, 0);
  return {
    scored: rewards.length,
    rollouts: rollouts.length,
    rewards: sum,
    score: rewards.length === 0 ? null : wilson(sum, rewards.length),
    meanSteps: mean(rollouts.map((r) => r.steps)),
  };
}

function countOutcomes(rollouts: readonly Scored[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of rollouts) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
