import { describe, expect, it } from 'vitest';
import { retryAfter } from './call.ts';
import { ServerFailure } from './failure.ts';
import { parseServerJson } from './json.ts';
import { pauseOf, withRetries } from './retry.ts';
import { parseServerSpec } from './server_spec.ts';

describe('pauses between tries', () => {
  const options = { tries: 5, firstPauseMs: 100, longestPauseMs: 1000 };

  it('double, between half and whole, up to a longest one', () => {
    const of = (random: number) =>
      [1, 2, 3, 4, 5, 6].map((n) => pauseOf(n, null, { ...options, random: () => random }));
    expect(of(1)).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(of(0)).toEqual([50, 100, 200, 400, 500, 500]);
  });

  it('are never shorter than what the server asks for', () => {
    expect(pauseOf(1, 700, { ...options, random: () => 0 })).toBe(700);
    expect(pauseOf(1, 700, { ...options, random: () => 1 })).toBe(750);
    expect(pauseOf(1, 60_000, { ...options, random: () => 1 })).toBe(1000);
  });

  it('read Retry-After in seconds and as a date', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfter('2', now)).toBe(2000);
    expect(retryAfter('Thu, 01 Jan 2026 00:00:05 GMT', now)).toBe(5000);
    expect(retryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
    expect(retryAfter('soon', now)).toBeNull();
    expect(retryAfter(null, now)).toBeNull();
  });

  it('lie between the tries: as long as a server asks for, else longer and longer', async () => {
    const failures = [
      new ServerFailure('busy', 'later', { retryAfterMs: 700 }),
      new ServerFailure('broken', 'status 500'),
      new ServerFailure('busy', 'later'),
    ];
    const pauses: number[] = [];
    const sleep = async (ms: number) => void pauses.push(ms);
    const request = async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return 'whole';
    };
    expect(await withRetries(request, { ...options, sleep, random: () => 1 })).toBe('whole');
    expect(pauses).toEqual([750, 200, 400]);
  });

  it.each(['timeout', 'unreachable', 'refused'] as const)('are not made where it would not help: %s', async (kind) => {
    let asked = 0;
    const request = async () => {
      asked += 1;
      throw new ServerFailure(kind, 'no');
    };
    await expect(withRetries(request, options)).rejects.toMatchObject({ kind });
    expect(asked).toBe(1);
  });

  it('end when the request is abandoned', async () => {
    const stop = new AbortController();
    let asked = 0;
    const request = async () => {
      asked += 1;
      throw new ServerFailure('busy', 'later', { retryAfterMs: 60_000 });
    };
    const result = withRetries(request, { tries: 3, firstPauseMs: 1, longestPauseMs: 60_000, signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 10);
    await expect(result).rejects.toThrow('enough');
    expect(asked).toBe(1);
  });
});

describe('JSON of servers', () => {
  it('may hold NaN and infinities outside of strings', () => {
    expect(parseServerJson('{"a":[NaN,-Infinity,1],"b":"NaN \\" Infinity"}')).toEqual({
      a: [null, null, 1],
      b: 'NaN " Infinity',
    });
    expect(() => parseServerJson('{"a":NaN')).toThrow(SyntaxError);
  });
});

describe('parseServerSpec', () => {
  it('reads addresses with and without /v1, and options', () => {
    expect(parseServerSpec('openai:http://a:8000/v1/,https://b/llm;model=m;coordinates=relative;engine=vllm')).toEqual({
      api: 'chat',
      urls: ['http://a:8000', 'https://b/llm'],
      model: 'm',
      coordinates: 'relative',
      engine: 'vllm',
    });
    expect(parseServerSpec('sglang:http://a:1')).toEqual({ api: 'generate', urls: ['http://a:1'] });
    expect(parseServerSpec('openai')).toEqual({ api: 'chat', urls: [] });
  });

  it.each([
    ['openai:localhost', 'is no URL'],
    ['openai:http://127.0.0.1:99999', 'has the port 99999; ports are numbers up to 65535'],
    ['openai:http://127.0.0.1:80a/v1', 'has the port 80a'],
    ['openai:ftp://a', 'is no http address'],
    ['openai:http://user:pass@a', 'must not carry a password'],
    ['openai:http://a,http://a/v1', 'named twice'],
    ['openai:http://a;modle=x', 'cannot read "modle=x"'],
    ['openai:http://a;coordinates=polar', 'coordinates cannot be "polar"'],
  ])('refuses %s', (spec, message) => {
    expect(() => parseServerSpec(spec)).toThrow(message);
  });
});
