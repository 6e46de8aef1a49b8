import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkWhole, type ServerAnswer, versionIn } from './answer.ts';
import { chat } from './chat.ts';
import { ServerFailure } from './failure.ts';
import { generate } from './generate.ts';
import { sglangGenerate, vllmCompletion } from './shapes.testing.ts';

/** An answer with one of its values, anywhere in it, replaced by something else. */
function tampered(answer: object): fc.Arbitrary<unknown> {
  const paths = pathsIn(answer);
  return fc.tuple(fc.constantFrom(...paths), fc.jsonValue()).map(([path, value]) => {
    const copy = structuredClone(answer);
    let at = copy as Record<string, unknown>;
    for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
    at[path.at(-1)!] = value;
    return copy;
  });
}

function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const below = Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]));
  return path.length === 0 ? below : [path, ...below];
}

/** What is handed on is whole and can be recorded, or it is a failure of the server: nothing else is ever thrown. */
function holds(read: () => ServerAnswer): void {
  let answer: ServerAnswer;
  try {
    answer = read();
    checkWhole(answer, 'test');
  } catch (error) {
    expect(error).toBeInstanceOf(ServerFailure);
    return;
  }
  expect(typeof answer.text).toBe('string');
  expect(['stop', 'length']).toContain(answer.finishReason);
  expect(answer.logprobs).toHaveLength(answer.tokenIds.length);
  for (const id of answer.tokenIds) expect(Number.isInteger(id) && id >= 0).toBe(true);
  for (const logprob of answer.logprobs) expect(logprob === null || (logprob <= 0 && logprob > -9999)).toBe(true);
  if (answer.entropies) expect(answer.entropies).toHaveLength(answer.tokenIds.length);
}

describe('whatever a server answers', () => {
  it('names a version only as a number or its text', () => {
    const versions = [7, '7', ['7'], { toString: [] }, 'default', -1, 1.5, null].map((weight_version) =>
      versionIn({ weight_version }),
    );
    expect(versions).toEqual([7, 7, null, null, null, null, null, null]);
  });

  it.each([
    ['chat completions', chat, vllmCompletion({ choice: { entropies: [1, 1, 1, 1] } })],
    ['/generate', generate, sglangGenerate()],
  ] as const)('%s: it is read as a whole reply, or as a failure of the server', (_, dialect, whole) => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), { arbitrary: tampered(whole), weight: 9 }), (answer) => {
        holds(() => dialect.read(answer, 'test'));
      }),
      { numRuns: 2000 },
    );
  });
});
