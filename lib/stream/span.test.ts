import { expect, it } from 'vitest';
import { spanOf } from './span.ts';

it.each([
  ['up to', 2000, 'up to 2 s'],
  ['for', 60_000, 'for 60 s'],
  ['for', 1.4, 'for 0.001 s'],
  ['up to', 86_400_000, 'up to 86400 s'],
  ['for', 1e308 * 1000, 'as long as it takes'],
  ['up to', 1e15, 'as long as it takes'],
] as const)('%s %d ms', (word, ms, text) => expect(spanOf(word, ms)).toBe(text));
