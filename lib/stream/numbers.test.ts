import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { logProbabilities, measuredNumbers, wholeNumbers } from './numbers.ts';

const anything = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(null, undefined, Number.NaN, Infinity, -Infinity, 2 ** 53, -9999, 'x', true, {}, []),
);

describe('arrays of numbers', () => {
  it('accept and refuse exactly what zod does item by item, in the same words', () => {
    const pairs = [
      [wholeNumbers(), z.array(z.number().int())],
      [measuredNumbers(), z.array(z.number().nullable())],
      [logProbabilities(), z.array(z.number().max(1e-3, 'expected a log-probability, at most 0').nullable())],
    ] as const;
    fc.assert(
      fc.property(fc.oneof(fc.array(anything), fc.array(fc.integer()), anything), (value) => {
        for (const [quick, plain] of pairs) {
          const [got, want] = [
            z.object({ a: quick }).safeParse({ a: value }),
            z.object({ a: plain }).safeParse({ a: value }),
          ];
          expect(got.success).toBe(want.success);
          expect(got.error?.issues).toEqual(want.error?.issues);
          if (want.success) expect(got.data).toEqual(want.data);
        }
      }),
    );
  });

  it('name the item that is wrong', () => {
    expect(wholeNumbers().safeParse([1, 2.5]).error?.issues[0]?.path).toEqual([1]);
    expect(measuredNumbers().safeParse([-1, null, 'x']).error?.issues[0]?.path).toEqual([2]);
    expect(measuredNumbers().safeParse([-1, null]).data).toEqual([-1, null]);
  });
});
