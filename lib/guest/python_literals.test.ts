import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { parseLiteral } from './python_literals.ts';

const plain = (source: string) => JSON.parse(JSON.stringify(parseLiteral(source)));

describe('parseLiteral', () => {
  it.each([
    ["{'a': 1, 'b': (2, -.5,), 'c': [True, None]}", { a: 1, b: [2, -0.5], c: [true, null] }],
    ['{"a": {"b": [1e3, false, null]},\n "c": "\\ud83d\\ude00 \\u00e9"}', { a: { b: [1000, false, null] }, c: '😀 é' }],
    ["('a' 'b')", 'ab'],
    ['(1,)', [1]],
    ['(1)', 1],
    ["r'a\\n'", 'a\\n'],
    ['[]', []],
  ])('%s', (source, value) => expect(plain(source)).toEqual(value));

  it('takes no key for more than a key', () => {
    const value = parseLiteral('{"__proto__": {"polluted": 1}, "constructor": 2}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([
    '',
    '1 + 1',
    '[1',
    "{'a' 1}",
    '{1: 2}',
    'f(1)',
    '12abc',
    '1.2.3',
    '1 2',
    "f'x'",
    "'a",
    'undefined',
    '['.repeat(1000),
  ])('refuses %.20j', (source) => expect(() => parseLiteral(source)).toThrow(DartError));

  it('reads all of JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (json) => {
        expect(plain(json)).toEqual(JSON.parse(JSON.stringify(JSON.parse(json))));
      }),
    );
  });
});
