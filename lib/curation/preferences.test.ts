import { describe, expect, it } from 'vitest';
import { trajectory } from '../store/trajectories.testing.ts';
import { crossed, PairSampler } from './preferences.ts';
import type { Scored } from './success.ts';

describe('crossed', () => {
  it('uses each item once before any is used again, and has every combination once', () => {
    const pairs = crossed(['a', 'b'], ['x', 'y', 'z']);
    expect(pairs.slice(0, 3)).toEqual([
      ['a', 'x'],
      ['b', 'y'],
      ['a', 'z'],
    ]);
    expect(new Set(pairs.map(String)).size).toBe(6);
    expect(crossed(['a', 'b', 'c'], ['x'])).toEqual([
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'x'],
    ]);
    expect(crossed([], ['x'])).toEqual([]);
  });
});

describe('PairSampler', () => {
  const offer = (sampler: PairSampler, id: string, reward: number) =>
    sampler.offer(trajectory({ id, reward, steps: 1 }) as Scored);

  it('draws evenly from all that came, holding no more than it hands out', () => {
    const drawn = new Map<string, number>();
    for (let seed = 0; seed < 600; seed++) {
      const sampler = new PairSampler({ threshold: 0.5, pairs: 2, seed });
      offer(sampler, 'good', 1);
      for (let i = 0; i < 10; i++) offer(sampler, `bad${i}`, 0);
      const [result] = [...sampler.results()];
      expect(result!.pairs).toHaveLength(2);
      for (const { rejected } of result!.pairs) {
        const id = rejected!.trajectory_id;
        drawn.set(id, (drawn.get(id) ?? 0) + 1);
      }
    }
    // Two of ten, 600 times: 120 each on average; five standard deviations are 49.
    expect(drawn.size).toBe(10);
    for (const count of drawn.values()) expect(Math.abs(count - 120)).toBeLessThan(49);
  });

  it('does not depend on what other tasks come between', () => {
    const ids = (others: boolean) => {
      const sampler = new PairSampler({ threshold: 0.5, pairs: 1, seed: 3 });
      for (let i = 0; i < 20; i++) {
        offer(sampler, `${i}`, i % 2);
        if (others) sampler.offer(trajectory({ id: `o${i}`, task: 'os/other', reward: i % 2 }) as Scored);
      }
      return [...sampler.results()][0]!.pairs.map((pair) => [pair.chosen!.trajectory_id, pair.rejected!.trajectory_id]);
    };
    expect(ids(true)).toEqual(ids(false));
  });
});
