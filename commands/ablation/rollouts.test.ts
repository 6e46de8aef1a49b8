import { describe, expect, it } from 'vitest';
import { type RolloutLine, stretchesOf } from './rollouts.ts';

const line = (group: string, reward: number | null): RolloutLine => ({
  ...{ group, task: 't', reward, steps: 1, version: 0 },
});

describe('stretchesOf', () => {
  it('gives mean reward and spread within groups, errors left out', () => {
    const lines = [
      ...[line('a', 1), line('b', 1), line('a', 0), line('b', null), line('b', 1)],
      ...[line('c', 0), line('c', 0), line('d', 0), line('d', 1), line('e', 1)],
    ];
    const [first, second, ...rest] = stretchesOf(lines, 8, 2);
    // Groups a: 1 0, standard deviation √0.5; b: 1 1, none.
    expect(first).toMatchObject({ rollouts: 4, reward: 0.75, varied: 0.5 });
    expect(first!.spread).toBeCloseTo(Math.SQRT1_2 / 2);
    expect(second).toMatchObject({ rollouts: 8, reward: 0.25, varied: 0.5 });
    expect(rest).toEqual([]);
  });

  it('knows no spread where no group has two', () => {
    expect(stretchesOf([line('a', 1), line('b', 0)], 2, 1)).toEqual([
      { rollouts: 2, reward: 0.5, spread: null, varied: null },
    ]);
  });
});
