import { describe, expect, it } from 'vitest';
import { tokenScales } from './scales.ts';

describe('tokenScales', () => {
  it('gives every token the same weight under token-mean', () => {
    expect([...tokenScales([3, 1], 'token-mean')]).toEqual([1 / 4, 1 / 4]);
  });

  it('gives every sequence the same weight under sequence-mean', () => {
    expect([...tokenScales([4, 1], 'sequence-mean')]).toEqual([1 / 8, 1 / 2]);
  });

  it('divides by sequences and the longest, or by the given constant', () => {
    expect([...tokenScales([4, 1], 'constant')]).toEqual([1 / 8, 1 / 8]);
    expect([...tokenScales([4, 1], 'constant', 10)]).toEqual([1 / 20, 1 / 20]);
  });

  it('sums to one under both means, and leaves empty sequences out', () => {
    const lengths = [2, 0, 5];
    expect([...tokenScales(lengths, 'sequence-mean')]).toEqual([1 / 4, 0, 1 / 10]);
    for (const aggregation of ['token-mean', 'sequence-mean'] as const) {
      const scales = tokenScales(lengths, aggregation);
      expect(lengths.reduce((sum, length, i) => sum + length * scales[i]!, 0)).toBeCloseTo(1, 12);
    }
  });
});
