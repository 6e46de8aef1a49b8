import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sequenceRatio } from './difflib.ts';

const ratio = (a: string, b: string) => sequenceRatio([...a], [...b]);

describe('sequenceRatio', () => {
  it.each([
    ['', '', 1],
    ['a', '', 0],
    // The examples of Python's manual.
    ['abcd', 'bcde', 0.75],
    ['tide', 'diet', 0.25],
    ['diet', 'tide', 0.5],
    // "ab", then "cd": 2 * 4 / 9.
    ['abxcd', 'abcd', 8 / 9],
  ])('%j and %j', (a, b, wanted) => {
    expect(ratio(a, b)).toBeCloseTo(wanted, 12);
  });

  it('passes over what is popular in a long second sequence, unless a match runs into it', () => {
    const long = 'ab'.repeat(150);
    expect(ratio(long, long)).toBe(1);
    // Nothing starts a match here: both letters are popular, and the first of each differ.
    expect(ratio(long, `b${long}`)).toBe(0);
    expect(ratio('ab'.repeat(90), `b${'ab'.repeat(90)}`)).toBeGreaterThan(0.99);
  });

  it('is from 0 to 1, and 1 for equal sequences', () => {
    const word = fc.stringMatching(/^[abc]{0,12}$/);
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(ratio(a, b)).toBeGreaterThanOrEqual(0);
        expect(ratio(a, b)).toBeLessThanOrEqual(1);
        expect(ratio(a, b) === 1).toBe(a === b);
      }),
    );
  });
});
