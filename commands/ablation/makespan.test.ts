import { describe, expect, it } from 'vitest';
import { makespan } from './makespan.ts';

const work = (product: string, seconds: number, after?: string) => ({ product, seconds, after });

describe('makespan', () => {
  it('is the sum of what is done one after another, and no less than the longest piece where lanes are many', () => {
    const pieces = [work('a', 10), work('b', 20), work('c', 40)];
    expect([1, 2, 9].map((lanes) => makespan(pieces, lanes))).toEqual([70, 50, 40]);
    expect(makespan([], 2)).toBe(0);
  });

  it('lets a piece wait for what it begins with, and others go before', () => {
    // Beside a (0–10): c (0–4), then nothing until b can begin (10–15).
    expect(makespan([work('a', 10), work('b', 5, 'a'), work('c', 4)], 2)).toBe(15);
    expect(makespan([work('b', 5, 'there')], 1)).toBe(5);
  });

  it('counts on what is under way', () => {
    // One lane is free at 3, the other at 0: b from 0 to 5, c from 3 to 9.
    expect(makespan([work('b', 5), work('c', 6, 'a')], 2, [work('a', 3)])).toBe(9);
  });
});
