import { hash32 } from '../stream/random.ts';

/** Desktops of training have seeds 1 … 1,000,000; those of evaluation lie above, so that none is ever trained on. */
export const TRAINING_SEEDS = 1_000_000;

/** The desktop seed of a task's `counter`-th group: all its rollouts begin with the same screen. */
export function groupSeed(runSeed: number, taskId: string, counter: number, evaluation = false): number {
  const seed = 1 + (hash32(`${runSeed}/${taskId}/${counter}`) % TRAINING_SEEDS);
  return evaluation ? TRAINING_SEEDS + seed : seed;
}

/** The seed of one reply: differs between the rollouts of a group and between steps, and is the same in each run. */
export function replySeed(runSeed: number, group: number, rolloutIndex: number, stepIndex: number): number {
  return hash32(`${runSeed}/${group}/${rolloutIndex}/${stepIndex}`);
}
