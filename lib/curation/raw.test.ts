import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trajectory } from '../store/trajectories.testing.ts';
import { keepLine, lineOf, locateSteps } from './raw.ts';

function stepsOf(text: string): string[] | undefined {
  const line = Buffer.from(text);
  const spans = locateSteps(line);
  return spans?.map(({ start, end }) => line.subarray(start, end).toString());
}

describe('locateSteps', () => {
  it('finds the items of the top-level list, whatever stands around and in them', () => {
    expect(stepsOf('{"a":{"steps":[1]},"steps":[{"x":"]}\\"{"},[1,"]"],2, "é\\\\" ],"z":[[3]]}')).toEqual([
      '{"x":"]}\\"{"}',
      '[1,"]"]',
      '2',
      '"é\\\\"',
    ]);
    expect(stepsOf('\ufeff { "steps" : [ ] , "b" : -1.5e3 }\r')).toEqual([]);
    expect(stepsOf('{"steps":[1],"steps":[2,3]}')).toEqual(['2', '3']);
  });

  it('gives up where it cannot be sure', () => {
    expect(stepsOf('{"a":1}')).toBeUndefined();
    expect(stepsOf('{"steps":"none"}')).toBeUndefined();
    expect(stepsOf('{"st\\u0065ps":[1],"steps":[2]}')).toBeUndefined();
    expect(stepsOf('[{"steps":[1]}]')).toBeUndefined();
  });

  it('agrees with JSON.parse on any record, however it is spaced', () => {
    const record = fc.record({ before: fc.jsonValue(), steps: fc.array(fc.jsonValue()), after: fc.jsonValue() });
    fc.assert(
      fc.property(record, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const found = stepsOf(JSON.stringify(value, null, space));
        expect(found?.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(value.steps)));
      }),
      { numRuns: 500 },
    );
  });

  it('skips long strings and long lists of numbers with anything after them', () => {
    const long = Array.from({ length: 50 }, (_, i) => i / 3);
    const quoted = `${'x'.repeat(100)}\\"]}`;
    const steps = [
      { long, quoted },
      { nested: [...long, [1, '"]'], null] },
      { text: `${'\\'.repeat(41)}"` },
      [null, 1],
    ];
    expect(stepsOf(JSON.stringify({ steps }))).toEqual(steps.map((step) => JSON.stringify(step)));
  });
});

describe('keepLine', () => {
  it('lets go of the chunk that a short line came in', () => {
    const chunk = new Uint8Array(1000).fill(65);
    const one = trajectory({ id: 'a' });
    keepLine(one, chunk.subarray(10, 20));
    expect(lineOf(one)).toEqual(Buffer.from('A'.repeat(10)));
    chunk.fill(66);
    expect(lineOf(one)).toEqual(Buffer.from('A'.repeat(10)));
    expect(lineOf(trajectory({ id: 'a' }))).toBeUndefined();
  });
});
