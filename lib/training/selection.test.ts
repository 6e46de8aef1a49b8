import { describe, expect, it } from 'vitest';
import { makeSample, makeStep } from '../stream/records.testing.ts';
import { selectGroup } from './selection.ts';

const spelling = { isReply: () => true, encodeReply: () => null };

function group(entropies: (number | null)[]) {
  const samples = entropies.map((entropy, i) => ({
    where: `x:${i}`,
    sample: makeSample({ entropy, step_index: i, step: makeStep(i, { token_ids: [i % 4], logprobs: [0] }) }),
  }));
  return { groupId: 'g', samples };
}

const kept = async (entropies: (number | null)[], keep: number, measured: number[] = []) => {
  const asked: number[] = [];
  const selected = await selectGroup(group(entropies), {
    keep,
    spelling,
    measure: async (examples) => {
      asked.push(examples.length);
      return measured;
    },
  });
  return { asked, threshold: selected.threshold, steps: selected.kept.map((e) => e.where) };
};

describe('selectGroup', () => {
  it('keeps the steps at or above the 0.2 quantile, linearly interpolated', async () => {
    // Sorted 0.1 0.2 0.3 0.4 0.5 0.6: place 0.2 · 5 = 1 → threshold 0.2.
    const { threshold, steps, asked } = await kept([0.5, 0.1, 0.3, 0.2, 0.6, 0.4], 0.8);
    expect(threshold).toBeCloseTo(0.2, 12);
    expect(steps.map((where) => where.split(' ')[0])).toEqual(['x:0', 'x:2', 'x:3', 'x:4', 'x:5']);
    expect(asked).toEqual([]);
  });

  it('asks the policy only for the entropies that did not come along', async () => {
    const { steps, asked } = await kept([0.5, null, 0.3, null], 0.5, [0.9, 0.1]);
    expect(asked).toEqual([2]);
    expect(steps.map((where) => where.split(' ')[0])).toEqual(['x:0', 'x:1']);
  });

  it('keeps all, and asks nothing, when switched off', async () => {
    const { steps, threshold, asked } = await kept([null, null, 0.1], 1);
    expect([steps.length, threshold, asked]).toEqual([3, null, []]);
  });

  it('counts the steps that cannot be spelt', async () => {
    const whole = group([0.1, 0.2]);
    whole.samples[0]!.sample.step.response.token_ids = [];
    const selected = await selectGroup(whole, { keep: 0.8, spelling, measure: async () => [] });
    expect(selected).toMatchObject({ steps: 1, unspelt: 1 });
    expect(selected.kept).toHaveLength(1);
  });
});
