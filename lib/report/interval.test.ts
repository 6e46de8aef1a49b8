import { describe, expect, it } from 'vitest';
import { bootstrapMean, bootstrapNotBelowZero, wilson } from './interval.ts';

describe('wilson', () => {
  it('gives the published interval of 8 successes in 10', () => {
    const { value, low, high } = wilson(8, 10);
    expect(value).toBe(0.8);
    // 0.4902–0.9433: the worked example found in statistics texts
    expect(low).toBeCloseTo(0.4902, 4);
    expect(high).toBeCloseTo(0.9433, 4);
  });

  it('says something at the ends and stays inside 0..1', () => {
    expect(wilson(0, 20)).toMatchObject({ value: 0, low: 0 });
    expect(wilson(0, 20).high).toBeCloseTo(0.1611, 4);
    expect(wilson(20, 20).low).toBeCloseTo(0.8389, 4);
    expect(wilson(20, 20).high).toBe(1);
    expect(wilson(60, 60).high).toBe(1);
  });

  it('refuses no trials', () => {
    expect(() => wilson(0, 0)).toThrow('at least one trial');
  });
});

describe('bootstrapMean', () => {
  it('has no width when every task moved alike', () => {
    expect(bootstrapMean([0.25, 0.25, 0.25])).toEqual({ value: 0.25, low: 0.25, high: 0.25 });
  });

  it('is near the normal interval for many values, and the same twice', () => {
    // mean 0.5, standard deviation 0.5, n = 400: half-width about 1.96 * 0.5 / 20 = 0.049
    const values = Array.from({ length: 400 }, (_, i) => i % 2);
    const once = bootstrapMean(values);
    expect(once.value).toBe(0.5);
    expect(once.low).toBeCloseTo(0.451, 2);
    expect(once.high).toBeCloseTo(0.549, 2);
    expect(bootstrapMean(values)).toEqual(once);
  });
});

describe('bootstrapNotBelowZero', () => {
  it('is nothing of clear losses, everything of none, and half and half of chance', () => {
    expect(bootstrapNotBelowZero([-0.5, -0.25, -1])).toBe(0);
    expect(bootstrapNotBelowZero([0, 0, 0])).toBe(1);
    expect(bootstrapNotBelowZero(Array.from({ length: 400 }, (_, i) => (i % 2 ? 1 : -1)))).toBeCloseTo(0.5, 1);
    // Of the four pairs of draws only that of two losses stays below 0.
    expect(bootstrapNotBelowZero([-1, 1])).toBeCloseTo(0.75, 1);
  });
});
