import { describe, expect, it } from 'vitest';
import { pairedMean } from './paired.ts';

describe('pairedMean', () => {
  it('gives the interval that is worked out by hand', () => {
    // Mean 2, deviations −2 −1 0 1 2: variance 10/4, standard error √(2.5/5) = 0.70711, t of four degrees 2.7764.
    const { value, low, high, pairs } = pairedMean([0, 1, 2, 3, 4]);
    expect([value, pairs]).toEqual([2, 5]);
    expect(low).toBeCloseTo(2 - 1.96321, 4);
    expect(high).toBeCloseTo(2 + 1.96321, 4);
  });

  it('is wide for two pairs: t of one degree is 12.7', () => {
    // Standard error √(2/2) = 1.
    const { low, high } = pairedMean([-1, 1]);
    expect([low, high]).toEqual([-12.7062, 12.7062]);
  });

  it('has a mean but no interval for one pair, and refuses none', () => {
    expect(pairedMean([0.25])).toEqual({ value: 0.25, low: null, high: null, pairs: 1 });
    expect(() => pairedMean([])).toThrow('at least one value');
  });

  it('goes on beyond the table without a step', () => {
    const width = (pairs: number) => pairedMean(Array.from({ length: pairs }, (_, i) => (i % 2 ? 1 : -1))).high!;
    // t of 39 degrees is 2.0227; standard error √((40/39)/40).
    expect(width(40)).toBeCloseTo(2.0227 / Math.sqrt(39), 4);
  });
});
