import { describe, expect, it } from 'vitest';
import { learningRate, type Schedule } from './schedule.ts';

const base: Schedule = { shape: 'constant', lr: 1, warmup: 0, total: null, floor: 0 };

describe('learningRate', () => {
  it('climbs in equal parts, then stays', () => {
    const schedule = { ...base, warmup: 4 };
    expect([0, 1, 2, 3, 4, 100].map((u) => learningRate(schedule, u))).toEqual([0.25, 0.5, 0.75, 1, 1, 1]);
  });

  it('falls on a line from the end of the warm-up to the total, and no further', () => {
    const schedule: Schedule = { ...base, shape: 'linear', lr: 2, warmup: 2, total: 6 };
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((u) => learningRate(schedule, u))).toEqual([1, 2, 2, 1.5, 1, 0.5, 0, 0]);
  });

  it('falls on half a cosine to the floor', () => {
    const schedule: Schedule = { ...base, shape: 'cosine', total: 4, floor: 0.1 };
    const rates = [0, 1, 2, 3, 4, 9].map((u) => learningRate(schedule, u));
    // (1 + cos(π/4)) / 2 = 0.853553
    const want = [1, 0.1 + 0.9 * 0.8535534, 0.55, 0.1 + 0.9 * 0.1464466, 0.1, 0.1];
    rates.forEach((rate, i) => {
      expect(rate).toBeCloseTo(want[i]!, 6);
    });
  });

  it('says what is missing when there is no end', () => {
    expect(() => learningRate({ ...base, shape: 'cosine' }, 0)).toThrow('how many updates');
  });
});
