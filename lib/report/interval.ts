import { Random } from '../stream/random.ts';

/** A point estimate with a two-sided 95% interval. */
export interface Estimate {
  value: number;
  low: number;
  high: number;
}

/** Normal quantile of a two-sided 95% interval. */
const Z95 = 1.959963984540054;

/**
 * Wilson's score interval of a proportion (Wilson 1927). Unlike the normal approximation it stays inside 0..1 and says
 * something at 0 and n successes.
 *
 * @param successes how many of the trials succeeded; may be fractional when trials have partial scores
 * @param trials    how many trials there were, ≥ 1
 */
export function wilson(successes: number, trials: number): Estimate {
  if (trials <= 0) throw new RangeError('a proportion needs at least one trial');
  const p = successes / trials;
  const z2 = (Z95 * Z95) / trials;
  const centre = (p + z2 / 2) / (1 + z2);
  const half = (Z95 / (1 + z2)) * Math.sqrt((p * (1 - p)) / trials + z2 / (4 * trials));
  // At the ends the bound is the end itself; rounding would leave it a little inside.
  const low = successes <= 0 ? 0 : Math.max(0, centre - half);
  const high = successes >= trials ? 1 : Math.min(1, centre + half);
  return { value: p, low, high };
}

/**
 * Percentile bootstrap interval of a mean (Efron 1979), for differences paired by task: tasks are what is resampled,
 * so that the interval speaks of other tasks of the same kind, not only of other rollouts.
 *
 * @param values one number a task
 * @param resamples how many means are drawn; seeded, so that the same values give the same interval
 */
export function bootstrapMean(values: readonly number[], resamples = 10_000): Estimate {
  const means = bootstrapMeans(values, resamples);
  return {
    value: values.reduce((a, b) => a + b, 0) / values.length,
    low: means[Math.floor(0.025 * (resamples - 1))]!,
    high: means[Math.ceil(0.975 * (resamples - 1))]!,
  };
}

/**
 * How likely a mean difference of at least 0 is among the resampled ones: a one-sided p of "it has become worse", by the
 * same draws as `bootstrapMean`.
 */
export function bootstrapNotBelowZero(values: readonly number[], resamples = 10_000): number {
  const means = bootstrapMeans(values, resamples);
  return means.filter((mean) => mean >= 0).length / resamples;
}

/** Means of samples drawn from the values with replacement, in ascending order. */
function bootstrapMeans(values: readonly number[], resamples: number): Float64Array {
  if (values.length === 0) throw new RangeError('a mean needs at least one value');
  const random = new Random(`bootstrap:${values.length}`);
  const means = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) {
    let sum = 0;
    for (let j = 0; j < values.length; j++) sum += values[random.int(values.length)]!;
    means[i] = sum / values.length;
  }
  return means.sort();
}
