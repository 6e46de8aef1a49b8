import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectSteps, stepEntropy } from './index.ts';

const f64 = (...values: number[]) => Float64Array.from(values);
const ids = (...values: number[]) => Int32Array.from(values);
const chosen = (entropies: number[], keep: number) => [
  ...selectSteps({ stepEntropy: f64(...entropies), stepGroup: new Int32Array(entropies.length), groups: 1, keep })
    .selected,
];

describe('stepEntropy', () => {
  it('is the mean over the unmasked tokens of each step', () => {
    const tokenEntropy = Float32Array.of(1, 2, 9, 4, 6);
    const stepOffsets = ids(0, 3, 3, 5);
    expect([...stepEntropy({ tokenEntropy, mask: Uint8Array.of(1, 1, 0, 1, 1), stepOffsets })]).toEqual([
      1.5,
      Number.NaN,
      5,
    ]);
    expect([...stepEntropy({ tokenEntropy, stepOffsets: ids(0, 5) })]).toEqual([4.4]);
  });

  it('refuses offsets that do not end at the last token', () => {
    const tokenEntropy = new Float32Array(3);
    expect(() => stepEntropy({ tokenEntropy, stepOffsets: ids(0, 2) })).toThrow(
      'Expected 3 for stepOffsets[1] but received 2',
    );
    expect(() => stepEntropy({ tokenEntropy, stepOffsets: ids(0, 3, 2, 3) })).toThrow(
      'for stepOffsets[2] but received 2',
    );
  });
});

describe('selectSteps', () => {
  it('keeps the steps at or above the quantile, interpolated between two of them', () => {
    const got = selectSteps({ stepEntropy: f64(1, 2, 3, 4), stepGroup: ids(0, 0, 0, 0), groups: 1, keep: 0.8 });
    expect(got.threshold[0]).toBeCloseTo(1.6, 12);
    expect([...got.selected]).toEqual([0, 1, 1, 1]);
  });

  it('keeps ties, everything at 1, and the greatest at 0', () => {
    expect(chosen([5, 1, 1, 1, 1], 0.8)).toEqual([1, 1, 1, 1, 1]);
    expect(chosen([3, 1, 2], 1)).toEqual([1, 1, 1]);
    expect(chosen([3, 1, 3, 2], 0)).toEqual([1, 0, 1, 0]);
    expect(chosen([7], 0.2)).toEqual([1]);
  });

  it('chooses within groups, and never a step without entropy', () => {
    const got = selectSteps({
      stepEntropy: f64(1, 100, 2, Number.NaN, 300, 3),
      stepGroup: ids(0, 2, 0, 0, 2, 0),
      groups: 3,
      keep: 0.5,
    });
    expect([...got.selected]).toEqual([0, 0, 1, 0, 1, 1]);
    expect([...got.threshold]).toEqual([2, Number.NaN, 200]);
  });

  it('a group of six at keep 0.8 drops the lowest alone, though 0.2 is no binary fraction', () => {
    expect(chosen([1, 2, 3, 4, 5, 6], 0.8)).toEqual([0, 1, 1, 1, 1, 1]);
  });

  it('the order of steps does not matter, and about the share asked for is kept', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.double({ min: 0, max: 5, noNaN: true }), { minLength: 1, maxLength: 40 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (entropies, keep) => {
          const kept = entropies.filter((_, i) => chosen(entropies, keep)[i]);
          const reversed = [...entropies].reverse();
          expect(reversed.filter((_, i) => chosen(reversed, keep)[i]).reverse()).toEqual(kept);
          expect(Math.abs(kept.length - (1 + keep * (entropies.length - 1)))).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it('refuses groups that do not exist', () => {
    expect(() => selectSteps({ stepEntropy: f64(1), stepGroup: ids(1), groups: 1, keep: 1 })).toThrow(
      'Expected an index below 1 for stepGroup[0] but received 1',
    );
    expect(() => selectSteps({ stepEntropy: f64(1, 2), stepGroup: ids(0), groups: 1, keep: 1 })).toThrow(
      'Expected Float64Array of length 1 for stepEntropy but received Float64Array of length 2',
    );
  });
});
