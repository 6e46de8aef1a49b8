import { describe, expect, it } from 'vitest';
import { rolloutNumber, stepLimit } from './dynamic.ts';
import { groupSeed, replySeed } from './seeds.ts';

describe('rolloutNumber', () => {
  it.each([
    [null, 8],
    [0, 8],
    [0.5, 8],
    [0.6, 8],
    // 9/.625 − 7 = 7.4
    [0.625, 7],
    [0.7, 5],
    // 9/.75 − 7 = 5
    [0.75, 5],
    [0.8, 4],
    [0.9, 3],
    [0.9375, 2],
    [1, 2],
  ])('success %s → %i of 8', (rate, n) => expect(rolloutNumber(rate, 8)).toBe(n));

  it('never plans more than were asked for', () => {
    expect(rolloutNumber(0.7, 4)).toBe(4);
    expect(rolloutNumber(0.9, 4)).toBe(3);
    expect(rolloutNumber(1, 1)).toBe(1);
  });
});

describe('stepLimit', () => {
  const limits = { minSteps: 5, maxSteps: 30, slack: 2 };
  it.each([
    [null, 30],
    [1, 5],
    [3, 5],
    [4, 6],
    [20, 22],
    [29, 30],
    [30, 30],
  ])('longest success %s → %i', (longest, cap) => expect(stepLimit(longest, limits)).toBe(cap));
});

describe('seeds', () => {
  it('are in 1 … 1e6 for training and above for evaluation, the same each time', () => {
    for (let counter = 0; counter < 200; counter++) {
      const seed = groupSeed(1, 'os/one', counter);
      expect(seed >= 1 && seed <= 1_000_000).toBe(true);
      expect(groupSeed(1, 'os/one', counter)).toBe(seed);
      expect(groupSeed(1, 'os/one', counter, true)).toBe(seed + 1_000_000);
    }
  });

  it('differ between groups, rollouts and steps', () => {
    const groups = new Set(Array.from({ length: 200 }, (_, counter) => groupSeed(1, 'os/one', counter)));
    expect(groups.size).toBeGreaterThan(195);
    const replies = new Set<number>();
    for (let rollout = 0; rollout < 8; rollout++)
      for (let step = 0; step < 30; step++) replies.add(replySeed(1, 5, rollout, step));
    expect(replies.size).toBe(240);
  });
});
