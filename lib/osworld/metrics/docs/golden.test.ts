import { describe, expect, it } from 'vitest';
import { goldenRows, ourScore } from '../golden.testing.ts';
import { documentMetrics } from './index.ts';

const rows = goldenRows('docs');
/** OSWorld's score; where its code breaks on what an agent left, or gives less than 0, we say 0. */
const wanted = (score: unknown) => (typeof score === 'number' ? Math.max(0, score) : 0);

describe('metrics of text documents give the numbers of OSWorld', () => {
  it.each(rows.map((row) => [row.text, row] as const))('%s', async (_title, row) => {
    expect(await ourScore(row)).toBeCloseTo(wanted(row.score), 9);
  });

  it('with a document that scores and one that does not for each', () => {
    const scores = (name: string) => rows.filter((row) => row.name === name).map((row) => wanted(row.score));
    const hasBoth = (name: string) => scores(name).some((score) => score < 0.5) && scores(name).includes(1);
    // A folder of the machine that scores is none of our business.
    const others = Object.keys(documentMetrics).filter((name) => name !== 'check_file_exists' && !hasBoth(name));
    expect(others).toEqual([]);
  });
});
