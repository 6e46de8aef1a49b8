import { describe, expect, it } from 'vitest';
import { learningRate, type Schedule, warmupAdvice } from './schedule.ts';

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

  it('falls as the schedules of transformers do, whose last step is one above the floor', () => {
    // get_linear_schedule_with_warmup and get_cosine_with_min_lr_schedule_with_warmup, steps 2 to 5 of 6 after 2 of warm-up.
    const fall = (shape: 'linear' | 'cosine', floor: number) =>
      [2, 3, 4, 5].map((u) => Number(learningRate({ ...base, shape, warmup: 2, total: 6, floor }, u).toFixed(6)));
    expect(fall('linear', 0)).toEqual([1, 0.75, 0.5, 0.25]);
    expect(fall('cosine', 0)).toEqual([1, 0.853553, 0.5, 0.146447]);
    expect(fall('cosine', 0.1)).toEqual([1, 0.868198, 0.55, 0.231802]);
    // 3e-4 · (0.1 + 0.9/15) in the last of 15 updates, and the floor from there on.
    const linear: Schedule = { ...base, shape: 'linear', lr: 3e-4, total: 15, floor: 0.1 };
    expect(learningRate(linear, 14)).toBeCloseTo(4.8e-5, 12);
    expect(learningRate(linear, 15)).toBeCloseTo(3e-5, 12);
  });

  it.each([
    ['constant', 4, 'does not come to its peak'],
    ['constant', 10, null],
    ['cosine', 9, 'does not come to its peak'],
    ['cosine', 10, 'does not fall'],
    ['cosine', 11, null],
  ] as const)('of %s with a warm-up of 10 in %d updates', (shape, updates, said) => {
    const advice = warmupAdvice({ ...base, shape, warmup: 10 }, updates);
    const whole = `--lr-warmup 10, and there are ${updates} updates: the learning rate ${said}. Try: a shorter warm-up`;
    expect(advice).toBe(said === null ? null : whole);
  });

  it('says what is missing when there is no end', () => {
    expect(() => learningRate({ ...base, shape: 'cosine' }, 0)).toThrow('how many updates');
  });
});
