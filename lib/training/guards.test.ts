import { describe, expect, it } from 'vitest';
import { type Comparison, Guards, ruleText } from './guards.ts';

const rule = (comparison: Comparison, limit: number, updates = 1) =>
  ({ metric: 'train/approx_kl', comparison, limit, updates }) as const;
const kl = (value: number | null) => ({ 'train/approx_kl': value });

describe('Guards', () => {
  it.each([
    ['>', 0.2, false],
    ['>', 0.21, true],
    ['>=', 0.2, true],
    ['<', 0.2, false],
    ['<', 0.19, true],
    ['<=', 0.2, true],
    ['<=', 0.21, false],
  ] as const)('hold %s 0.2 against %f', (comparison, value, trips) => {
    const tripped = new Guards([rule(comparison, 0.2)]).check(kl(value), 7);
    expect(tripped).toEqual(trips ? { rule: `approx_kl${comparison}0.2`, value, since: 7, update: 7 } : null);
  });

  it('count updates in a row; an unknown value neither counts nor ends the row', () => {
    const guards = new Guards([rule('>', 0.2, 3)]);
    const values = [0.3, 0.3, 0.1, 0.3, 0.3, null, 0.4];
    const tripped = values.map((value, i) => guards.check(kl(value), i + 1));
    expect(tripped.slice(0, 6)).toEqual([null, null, null, null, null, null]);
    expect(tripped[6]).toEqual({ rule: 'approx_kl>0.2 for 3', value: 0.4, since: 4, update: 7 });
  });

  it('begin anew when told to', () => {
    const guards = new Guards([rule('>', 0.2, 2)]);
    guards.check(kl(1), 1);
    guards.forget();
    expect(guards.check(kl(1), 2)).toBeNull();
    expect(guards.check(kl(1), 3)).toMatchObject({ since: 2 });
  });

  it('go on counting from the rows of another one, by limit', () => {
    const first = new Guards([rule('>', 0.2, 3), rule('<', 0, 2)]);
    expect(first.rows).toBeUndefined();
    for (const [i, value] of [0.3, null, 0.4].entries()) first.check(kl(value), i + 4);
    expect(first.rows).toEqual({ 'approx_kl>0.2': { since: 4, updates: 2 } });
    const kept = JSON.parse(JSON.stringify(first.rows));
    expect(new Guards([rule('>', 0.2, 3)], kept).check(kl(1), 7)).toMatchObject({ since: 4, update: 7 });
    // Another number of updates counts on, another limit begins anew.
    expect(new Guards([rule('>', 0.2, 4)], kept).check(kl(1), 7)).toBeNull();
    expect(new Guards([rule('>', 0.3, 3)], kept).rows).toBeUndefined();
  });

  it('know their rules by their text', () => {
    const guards = new Guards([rule('>', 0.2, 3)]);
    expect(['approx_kl>0.2 for 3', 'approx_kl>0.2', 'approx_kl>0.2 for 4'].map((text) => guards.has(text))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('are written as they are given', () => {
    expect(ruleText(rule('<=', 1e-5, 4))).toBe('approx_kl<=0.00001 for 4');
  });
});
