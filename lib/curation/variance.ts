/** Differences of rewards below this are rounding. */
const EQUAL_WITHIN = 1e-9;

/**
 * Zero-variance rejection (design §8.4): where all rewards are the same, all advantages are 0 and a group teaches
 * nothing. `null` for a group that can be learned from, otherwise what all its members did.
 */
export function constantReward(rewards: readonly number[]): 'all_failed' | 'all_succeeded' | 'no_variance' | null {
  const low = Math.min(...rewards);
  if (Math.max(...rewards) - low > EQUAL_WITHIN) return null;
  if (low <= EQUAL_WITHIN) return 'all_failed';
  return low >= 1 - EQUAL_WITHIN ? 'all_succeeded' : 'no_variance';
}

/** Mean and unbiased standard deviation (0 for fewer than two values). */
export function moments(values: readonly number[]): { mean: number; std: number } {
  if (values.length === 0) return { mean: 0, std: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length === 1) return { mean, std: 0 };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, std: Math.sqrt(squares / (values.length - 1)) };
}
