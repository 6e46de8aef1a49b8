/** A mean difference with its two-sided 95% interval; one pair gives none. */
export interface PairedMean {
  value: number;
  low: number | null;
  high: number | null;
  pairs: number;
}

/** Student's two-sided 95% quantiles for 1 to 30 degrees of freedom. */
const T95 = [
  ...[12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281],
  ...[2.201, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.093, 2.086],
  ...[2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423],
];

/**
 * Mean of paired differences with Student's interval (Student 1908), for few pairs such as the seeds of two arms. A
 * bootstrap of three to five values, as `bootstrapMean` would make, is much too narrow.
 *
 * @param differences one number a pair, in any unit; at least one
 * @returns the same unit; `low` and `high` are null for one pair, which says nothing of chance
 */
export function pairedMean(differences: readonly number[]): PairedMean {
  const pairs = differences.length;
  if (pairs === 0) throw new RangeError('a mean needs at least one value');
  const value = differences.reduce((a, b) => a + b, 0) / pairs;
  if (pairs === 1) return { value, low: null, high: null, pairs };
  const variance = differences.reduce((sum, each) => sum + (each - value) ** 2, 0) / (pairs - 1);
  const half = studentQuantile(pairs - 1) * Math.sqrt(variance / pairs);
  return { value, low: value - half, high: value + half, pairs };
}

/** Beyond the table by the expansion of Cornish and Fisher, which is right to four digits there. */
function studentQuantile(freedom: number): number {
  const listed = T95[freedom - 1];
  if (listed !== undefined) return listed;
  const z = 1.959963984540054;
  return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}
