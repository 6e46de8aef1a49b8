import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shared } from '../stream/shared.testing.ts';
import { type AdvantageKind, type AdvantageScope, advantages } from './advantage.ts';

interface GoldenCase {
  rewards: number[];
  steps?: number[];
  scope?: AdvantageScope;
  want: Partial<Record<AdvantageKind, number[]>>;
}

describe('advantages', () => {
  it('are (R − mean) / (std + 1e-6) with the unbiased std', () => {
    // Mean 1/2, std √(2·¼) = 0.70710678.
    const [win, loss] = advantages([1, 0]);
    expect(win).toBeCloseTo(0.5 / (Math.SQRT1_2 + 1e-6), 14);
    expect(loss).toBe(-win!);
  });

  it('weigh each step in scope step: 1 step of success against 3 of failure', () => {
    // Members 1 0 0 0: mean 1/4, squares 9/16 + 3/16 = 3/4, std √(3/4 / 3) = 1/2.
    const [win, loss] = advantages([1, 0], 'grpo', 'step', [1, 3]);
    expect(win).toBeCloseTo(0.75 / 0.500001, 12);
    expect(loss).toBeCloseTo(-0.25 / 0.500001, 12);
    expect(advantages([1, 0], 'dr_grpo', 'step', [1, 3])).toEqual([0.75, -0.25]);
    expect(advantages([1, 0], 'rloo', 'step', [1, 3])).toEqual([1, -1 / 3]);
  });

  it('leave one out: each against the mean of the others', () => {
    expect(advantages([1, 0, 0.5], 'rloo')).toEqual([0.75, -0.75, 0]);
    expect(advantages([1], 'rloo')).toEqual([0]);
  });

  it.skipIf(shared === null)('agree with the golden vectors', () => {
    const { cases } = JSON.parse(readFileSync(join(shared!, 'golden', 'advantage.json'), 'utf8')) as {
      cases: GoldenCase[];
    };
    expect(cases.length).toBeGreaterThan(5);
    for (const { rewards, steps, scope, want } of cases) {
      for (const [kind, values] of Object.entries(want)) {
        const got = advantages(rewards, kind as AdvantageKind, scope, steps);
        expect(got).toHaveLength(values.length);
        for (const [i, value] of values.entries()) expect(got[i]).toBeCloseTo(value, 12);
      }
    }
  });

  it('sum to zero over a group', () => {
    const rewards = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 16 });
    fc.assert(
      fc.property(rewards, (group) => {
        for (const kind of ['grpo', 'dr_grpo', 'rloo'] as const) {
          const sum = advantages(group, kind).reduce((total, value) => total + value, 0);
          expect(Math.abs(sum)).toBeLessThan(1e-6);
        }
      }),
    );
  });

  it('sum to zero over the steps of a group in scope step', () => {
    const member = fc.tuple(fc.constantFrom(0, 0.5, 1), fc.integer({ min: 1, max: 30 }));
    fc.assert(
      fc.property(fc.array(member, { minLength: 2, maxLength: 8 }), (group) => {
        const steps = group.map(([, count]) => count);
        const values = advantages(
          group.map(([reward]) => reward),
          'grpo',
          'step',
          steps,
        );
        const sum = values.reduce((total, value, i) => total + value * steps[i]!, 0);
        expect(Math.abs(sum)).toBeLessThan(1e-6);
      }),
    );
  });
});
