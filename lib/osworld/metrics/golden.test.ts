import { describe, expect, it } from 'vitest';
import { goldenRows, ourScore } from './golden.testing.ts';

const rows = goldenRows('misc');
/** How far ours may be from OSWorld's number, where another library reads the document; else rounding. */
const TOLERANCE: Record<string, number> = { compare_pdfs: 0.005, compare_archive: 0.005 };
const within = (name: string) => TOLERANCE[name] ?? 1e-9;

describe('metrics give the numbers of OSWorld', () => {
  it.each(rows.map((row) => [row.text, row] as const))('%s', async (_title, row) => {
    // Where its code breaks on what an agent left, or gives less than 0, we say 0.
    const wanted = typeof row.score === 'number' ? Math.max(0, row.score) : 0;
    const score = await ourScore(row);
    expect(Math.abs(score - wanted), `${score} for ${wanted}`).toBeLessThanOrEqual(within(row.name));
  });

  it('with a document that scores and one that does not for each', () => {
    const names = [...new Set(rows.map((row) => row.name))];
    const scores = (name: string) => rows.filter((row) => row.name === name).map((row) => row.score);
    const isLow = (score: unknown) => typeof score !== 'number' || score < 0.9;
    const hasBoth = (name: string) => scores(name).some(isLow) && scores(name).some((score) => Number(score) > 0.9);
    expect(names.filter((name) => !hasBoth(name))).toEqual([]);
  });
});
