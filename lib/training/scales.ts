import type { Aggregation } from './presets.ts';

/**
 * The factor by which each token's loss enters the sum, one per sequence. They are made over a whole optimiser step, so
 * the mean is the same whatever the micro-batches (verl#6280 shows what happens otherwise).
 *
 * - `token-mean`: 1 / all tokens.
 * - `sequence-mean`: 1 / (tokens of the sequence · sequences).
 * - `constant` (Dr. GRPO): 1 / (sequences · constant), the longest sequence where no constant is given.
 *
 * A sequence of no tokens gets 0 and is not counted.
 */
export function tokenScales(
  lengths: readonly number[],
  aggregation: Aggregation,
  constant: number | null = null,
): Float64Array {
  const sequences = lengths.filter((length) => length > 0).length;
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  const longest = constant ?? lengths.reduce((most, length) => Math.max(most, length), 0);
  const scaleOf = (length: number): number => {
    if (length === 0) return 0;
    if (aggregation === 'token-mean') return 1 / tokens;
    if (aggregation === 'sequence-mean') return 1 / (length * sequences);
    return 1 / (sequences * longest);
  };
  return Float64Array.from(lengths, scaleOf);
}
