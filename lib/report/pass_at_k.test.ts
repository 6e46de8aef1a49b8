import { describe, expect, it } from 'vitest';
import { passAtK, passAtPowers } from './pass_at_k.ts';

/** The share of all subsets of k rollouts that hold a success, counted one by one. */
function byCounting(n: number, c: number, k: number): number {
  let [all, hit] = [0, 0];
  for (let set = 0; set < 1 << n; set++) {
    const members = Array.from({ length: n }, (_, i) => i).filter((i) => set & (1 << i));
    if (members.length !== k) continue;
    all += 1;
    if (members.some((i) => i < c)) hit += 1;
  }
  return hit / all;
}

describe('passAtK', () => {
  it('is the share of the subsets that hold a success', () => {
    for (const n of [1, 2, 5, 8]) {
      for (let c = 0; c <= n; c++) {
        for (let k = 1; k <= n; k++) expect(passAtK(n, c, k), `${n} ${c} ${k}`).toBeCloseTo(byCounting(n, c, k), 12);
      }
    }
  });

  it('does not overflow, and refuses more than there are', () => {
    expect(passAtK(10_000, 5000, 100)).toBeCloseTo(1, 12);
    expect(() => passAtK(3, 1, 4)).toThrow('pass@4 needs at least 4 rollouts, there are 3');
  });
});

describe('passAtPowers', () => {
  it('averages over the tasks that have so many rollouts', () => {
    const tasks = [
      { rollouts: 4, successes: 2 },
      { rollouts: 2, successes: 0 },
    ];
    // 1 − C(2,2)/C(4,2) = 5/6 and 0; pass@4 of the first alone
    expect(passAtPowers(tasks)).toEqual([
      { k: 1, value: 0.25, tasks: 2 },
      { k: 2, value: expect.closeTo(5 / 12, 12), tasks: 2 },
      { k: 4, value: 1, tasks: 1 },
    ]);
    expect(passAtPowers([])).toEqual([]);
  });
});
