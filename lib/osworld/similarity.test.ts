import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equal, matchesRule, pythonPattern } from './rules.ts';
import { textRatio } from './similarity.ts';
import { sameUrl } from './urls.ts';

describe('textRatio', () => {
  it.each([
    ['', '', 1],
    ['a', '', 0],
    ['abcd', 'abxd', 0.75],
    // LCS "thisisa" and blanks: rapidfuzz's own example, 96.55 %.
    ['this is a test', 'this is a test!', 28 / 29],
    ['😀a', '😀b', 0.5],
  ])('%j and %j', (a, b, ratio) => {
    expect(textRatio(a, b)).toBeCloseTo(ratio, 12);
  });

  it('is what the table of common lengths says, over more letters than one word of bits has', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), maxLength: 150 });
    fc.assert(
      fc.property(text, text, (first, second) => {
        const [a, b] = [[...first], [...second]];
        let row = new Array<number>(b.length + 1).fill(0);
        for (const letter of a) {
          const next = [0];
          for (const [j, other] of b.entries())
            next.push(letter === other ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!));
          row = next;
        }
        const longest = row[b.length]!;
        expect(textRatio(first, second)).toBe(a.length + b.length === 0 ? 1 : (2 * longest) / (a.length + b.length));
      }),
    );
  });

  it('is symmetric, and 1 for equal texts alone', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        expect(textRatio(a, b)).toBe(textRatio(b, a));
        expect(textRatio(a, b) === 1).toBe(a === b);
      }),
    );
  });
});

it('equal is Python equality', () => {
  expect(equal({ a: 1, b: [true] }, { b: [1], a: 1 })).toBe(true);
  expect(equal([1, 2], [1, 2, 3])).toBe(false);
  expect(equal({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  expect(equal('1', 1)).toBe(false);
  expect(equal(null, undefined)).toBe(true);
});

describe('matchesRule', () => {
  it.each([
    ['eq', 1, 1, true],
    ['ne', 1, 1, false],
    ['lt', 1, 2, true],
    ['ge', 2, 2, true],
    ['approx:0.1', 1.05, 1, true],
    ['approx:0.1', 1.2, 1, false],
    ['re', 'a dark theme', 'dark', true],
    ['re.I', 'DARK', 'dark', true],
    ['re.S', 'a\nb', 'a.b', true],
    ['re', 'a\nb', 'a.b', false],
    ['str_set_eq:,', 'b,a,a', ['a', 'b'], true],
    ['in', 2, [1, 2], true],
    ['not_in', 2, [1, 2], false],
  ])('%s', (method, value, ref, holds) => {
    expect(matchesRule(value, { method, ref }, 'rule', 't1')).toBe(holds);
  });
});

it('reads Python patterns', () => {
  expect(pythonPattern('(?i)(?P<word>cat)').exec('a CAT')?.groups?.word).toBe('CAT');
  expect(pythonPattern('\\Aab\\Z').test('xab')).toBe(false);
});

describe('sameUrl', () => {
  it.each([
    ['https://www.google.com', 'https://google.com.hk/', true],
    ['https://mail.google.com', 'https://google.com', false],
    ['http://a.com/x', 'a.com/x', true],
    ['https://a.com/x', 'http://a.com/x', false],
    ['https://a.com/x?q=1', 'https://a.com/x', false],
    ['https://www.bbc.co.uk/', 'https://bbc.com', true],
    ['chrome://settings', 'chrome://settings/', true],
  ])('%s and %s', (a, b, same) => {
    expect(sameUrl(a, b)).toBe(same);
  });

  it('null is only like null', () => {
    expect(sameUrl(null, 'https://a.com')).toBe(false);
  });
});
