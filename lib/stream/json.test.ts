import { describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import { adviceOnLine, parseJsonFile } from './json.ts';

function failure(text: string): string {
  try {
    return JSON.stringify(parseJsonFile(text, 'a.json', 'a task'));
  } catch (error) {
    return (error as DartError).describe();
  }
}

describe('parseJsonFile', () => {
  it('takes a byte-order mark', () => {
    expect(parseJsonFile('\uFEFF{"a":1}', 'a.json', '')).toEqual({ a: 1 });
  });

  const good = '"good": [1, 2],\n'.repeat(5);
  it.each([
    ['an unexpected token', `# A page\n\n${'more of it\n'.repeat(130)}`, 1],
    ['an unexpected token that stands elsewhere in a string', `{"a": "x, }",\n${good}"b": 1, }\n`, 7],
    ['a word cut in two', `[\ntrue,\ntrux,\n1]\n`, 3],
    ['a position', `{\n${good}"b": 1 "c": 2}\n`, 7],
    ['a text of a position', `{\n"b": ? , "in JSON at position 0": 2}\n`, 2],
    ['no text', '', 1],
    ['an early end', `{\n${good}\n\n`, 6],
  ])('names the line of %s', (_, text, line) => {
    expect(failure(text)).toMatch(new RegExp(`^a\\.json:${line}: not JSON: .*\\. Try: a task$`, 's'));
  });
});

describe('adviceOnLine', () => {
  it.each([
    ['{', 'jq -c ., which gives each record one line'],
    [' { \r', 'jq -c ., which gives each record one line'],
    ['[', "jq -c '.[]', which gives each item a line"],
    ['{"loss": NaN}', 'null for a number that is not known'],
    ['{"a":', undefined],
    ['}', undefined],
  ])('of %j', (line, advice) => expect(adviceOnLine(line)).toBe(advice));
});
