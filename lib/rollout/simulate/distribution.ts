import { z } from 'zod';

const uniform = z.strictObject({
  shape: z.literal('uniform'),
  min: z.number().nonnegative(),
  max: z.number().nonnegative(),
});
const lognormal = z.strictObject({
  shape: z.literal('lognormal'),
  median: z.number().positive(),
  /** Standard deviation of the logarithm. */
  sigma: z.number().nonnegative(),
  min: z.number().nonnegative().optional(),
  max: z.number().positive().optional(),
});
/** Beyond this many standard deviations no draw of 32 bits lies. */
const FARTHEST = 6.5;

/**
 * How long something takes, or how many steps: a shape that gives one value for each share `u` in (0, 1), so that one
 * random number is one draw whatever the shape.
 */
export const distributionSchema = z.discriminatedUnion('shape', [
  z.strictObject({ shape: z.literal('constant'), value: z.number().nonnegative() }),
  uniform.refine(({ min, max }) => min <= max, { message: 'min is above max' }),
  lognormal
    .refine(({ min = 0, max = Number.POSITIVE_INFINITY }) => min <= max, { message: 'min is above max' })
    .refine(({ median, sigma, max }) => max !== undefined || Number.isFinite(median * Math.exp(FARTHEST * sigma)), {
      message: 'sigma is so large that some draws have no end; give it a max',
    }),
  /** Measured values; draws lie between neighbours. */
  z.strictObject({ shape: z.literal('empirical'), values: z.array(z.number().nonnegative()).min(1) }),
]);

export type Distribution = z.infer<typeof distributionSchema>;

/** The value below which a share `u` in (0, 1) of the draws lies. */
export type Quantile = (u: number) => number;

/** Of a distribution that `distributionSchema` takes. */
export function quantileOf(distribution: Distribution): Quantile {
  switch (distribution.shape) {
    case 'constant': {
      const { value } = distribution;
      return () => value;
    }
    case 'uniform': {
      const { min, max } = distribution;
      return (u) => min + u * (max - min);
    }
    case 'lognormal': {
      const { median, sigma, min = 0, max = Number.POSITIVE_INFINITY } = distribution;
      return (u) => Math.min(max, Math.max(min, median * Math.exp(sigma * normalQuantile(u))));
    }
    case 'empirical':
      return empirical([...distribution.values].sort((a, b) => a - b));
  }
}

function empirical(sorted: readonly number[]): Quantile {
  const last = sorted.length - 1;
  return (u) => {
    const at = u * last;
    const below = Math.floor(at);
    const low = sorted[below]!;
    return low + (at - below) * (sorted[Math.min(last, below + 1)]! - low);
  };
}

/** Mean of a distribution, to four digits or so: the mean of evenly spaced quantiles. */
export function meanOf(distribution: Distribution): number {
  const quantile = quantileOf(distribution);
  const count = 4000;
  let sum = 0;
  for (let i = 0; i < count; i++) sum += quantile((i + 0.5) / count);
  return sum / count;
}

const CENTRE = [
  [2.50662827745924, -30.6647980661472, 138.357751867269, -275.928510446969, 220.946098424521, -39.6968302866538],
  [1, -13.2806815528857, 66.8013118877197, -155.698979859887, 161.585836858041, -54.4760987982241],
] as const;
const TAIL = [
  [2.93816398269878, 4.37466414146497, -2.54973253934373, -2.40075827718384, -0.322396458041136, -0.00778489400243029],
  [1, 3.75440866190742, 2.445134137143, 0.32246712907004, 0.00778469570904146],
] as const;

/** Inverse of the normal distribution (P. J. Acklam's rational approximations, relative error below 1.2e-9). */
export function normalQuantile(u: number): number {
  if (u <= 0.02425) return ratio(TAIL, Math.sqrt(-2 * Math.log(u)));
  if (u >= 1 - 0.02425) return -ratio(TAIL, Math.sqrt(-2 * Math.log(1 - u)));
  const q = u - 0.5;
  return q * ratio(CENTRE, q * q);
}

function ratio([above, below]: readonly [readonly number[], readonly number[]], x: number): number {
  return polynomial(above, x) / polynomial(below, x);
}

function polynomial(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = sum * x + coefficients[i]!;
  return sum;
}
