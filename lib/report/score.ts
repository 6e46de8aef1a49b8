import type { Trajectory } from '../stream/records.ts';
import { bootstrapMean, type Estimate, wilson } from './interval.ts';
import { passAtPowers } from './pass_at_k.ts';

/** What an evaluation keeps of each rollout. */
export interface Scored {
  reward: number | null;
  steps: number;
  /** From reset to score. */
  seconds: number;
  outcome: Trajectory['outcome'];
  error?: string;
}

/** A task with its rollouts, or why it has none. */
export interface TaskRollouts {
  domain: string;
  rollouts: Scored[];
  /** Why it cannot be scored here; null for a task that can. */
  unsupported: string | null;
}

/** Scores of a domain or of all tasks. Estimates are null where nothing could be scored. */
export interface Score {
  tasks: number;
  /** Tasks without a single scored rollout, for errors. */
  errored: number;
  /** Tasks that cannot be scored here, and were not run. */
  unsupported: number;
  rollouts: number;
  /** Rollouts that ended with a reward. */
  scored: number;
  /** Over rollouts, with Wilson's interval: what so few rollouts can tell of these very tasks. */
  score: Estimate | null;
  /** Mean over the scored tasks of each task's mean, with a bootstrap over tasks. */
  rate: Estimate | null;
  /** The same over all tasks, with 0 for what could not be scored. */
  zeroRate: Estimate | null;
  passAtK: { k: number; value: number; tasks: number }[];
  meanSteps: number;
  meanSeconds: number;
}

/** Adds up tasks. */
export function scoreOf(tasks: readonly TaskRollouts[]): Score {
  const rollouts = tasks.flatMap((task) => task.rollouts);
  const rewards = rewardsOf(rollouts);
  const rated = tasks.map((task) => meanReward(task)).filter((value) => value !== null);
  return {
    tasks: tasks.length,
    errored: tasks.filter((task) => task.unsupported === null && meanReward(task) === null).length,
    unsupported: tasks.filter((task) => task.unsupported !== null).length,
    rollouts: rollouts.length,
    scored: rewards.length,
    score: rewards.length === 0 ? null : wilson(sum(rewards), rewards.length),
    rate: rated.length === 0 ? null : bootstrapMean(rated),
    zeroRate: tasks.length === 0 ? null : bootstrapMean(tasks.map(meanWithZeros)),
    passAtK: passAtPowers(tasks.map(trialsOf).filter((trials) => trials.rollouts > 0)),
    meanSteps: mean(rollouts.map((rollout) => rollout.steps)),
    meanSeconds: mean(rollouts.map((rollout) => rollout.seconds)),
  };
}

/** Mean reward of the rollouts that have one, or null. */
export function meanReward({ rollouts }: Pick<TaskRollouts, 'rollouts'>): number | null {
  const rewards = rewardsOf(rollouts);
  return rewards.length === 0 ? null : mean(rewards);
}

/** Mean reward where a rollout without one counts as 0, and so does a task without rollouts. */
export function meanWithZeros({ rollouts }: Pick<TaskRollouts, 'rollouts'>): number {
  return mean(rollouts.map(({ reward }) => reward ?? 0));
}

/** How many scored rollouts a task has, and how many of them succeeded. */
export function trialsOf({ rollouts }: Pick<TaskRollouts, 'rollouts'>): { rollouts: number; successes: number } {
  const scored = rollouts.filter(({ reward }) => reward !== null);
  return { rollouts: scored.length, successes: scored.filter(({ outcome }) => outcome === 'success').length };
}

/** How often each outcome came. */
export function countOutcomes(rollouts: readonly Scored[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of rollouts) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** 0 of nothing. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

function rewardsOf(rollouts: readonly Scored[]): number[] {
  return rollouts.flatMap(({ reward }) => (reward === null ? [] : [reward]));
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
