/** At or below this success rate a task gets all `full` rollouts (DART, reference/dart-and-arpo.md §1.4). */
const HARD_ENOUGH = 0.6;
const LEAST_ROLLOUTS = 2;
/** 9/s is not exact in binary: 9/0.9 may fall just below 10. */
const ROUNDING = 1e-9;

/**
 * Dynamic rollout number: how many rollouts the next group of a task gets, from its recent success rate (null while
 * nothing was scored). With 8 in full: .6 → 8, .7 → 5, .8 → 4, .9 → 3, 1 → 2.
 */
export function rolloutNumber(successRate: number | null, full: number): number {
  if (successRate === null || successRate <= HARD_ENOUGH) return full;
  const fewer = Math.floor(9 / successRate - 7 + ROUNDING);
  return Math.min(full, Math.max(LEAST_ROLLOUTS, fewer));
}

export interface LengthLimits {
  minSteps: number;
  maxSteps: number;
  /** Steps beyond the longest success so far. */
  slack: number;
}

/** Dynamic trajectory length: the cap of a task's next rollouts, in steps. No success yet → the most. */
export function stepLimit(longestSuccess: number | null, { minSteps, maxSteps, slack }: LengthLimits): number {
  if (longestSuccess === null) return maxSteps;
  return Math.min(maxSteps, Math.max(minSteps, longestSuccess + slack));
}
