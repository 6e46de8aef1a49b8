import { describe, expect, it } from 'vitest';
import { binned, sparkline } from './sparkline.ts';

describe('sparkline', () => {
  it.each([
    [[0, 1, 2, 3, 4, 5, 6, 7], 8, '▁▂▃▄▅▆▇█'],
    [[-3, 4], 8, '▁█'],
    [[1, 1, 3, 3, 2, 2], 3, '▁█▅'],
    [[5, 5, 5], 8, '▅▅▅'],
    [[-1e308, 0, 1e308], 8, '▁▅█'],
    [[1.7e308, 1.7e308, 0, 0, -1.7e308, -1.7e308], 3, '█▅▁'],
    [[5], 8, '▅'],
    [[], 8, ''],
  ])('of %j in %d columns', (values, width, wanted) => {
    expect(sparkline(values, width)).toBe(wanted);
  });
});

describe('binned', () => {
  it('takes each number once', () => {
    expect(binned([1, 2, 3, 4, 5], 2)).toEqual([2, 4.5]);
    expect(binned([1, 2], 5)).toEqual([1, 2]);
    const many = Array.from({ length: 1000 }, (_, i) => i);
    expect(binned(many, 300)).toHaveLength(300);
    expect([binned(many, 300)[0], binned(many, 300).at(-1)]).toEqual([1, 998]);
  });
});
