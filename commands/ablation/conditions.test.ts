import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../../lib/stream/records.ts';
import { ConditionsCount, conditionsTable, quantile } from './conditions.ts';

/** Rollouts of a task: steps and reward of each; the entropies of a step are 0.1 and 0.3. */
function rollouts(task_id: string, ...list: [steps: number, reward: number | null][]) {
  return list.map(([steps, reward]) => ({
    task_id,
    reward,
    outcome: (reward === 0 && steps === 30 ? 'truncated' : 'failure') as Trajectory['outcome'],
    steps: Array.from({ length: steps }, () => ({ response: { entropies: [0.1, null, 0.3] } })) as never,
  }));
}

const count = new ConditionsCount();
for (const trajectory of [
  ...rollouts('easy', [2, 1], [3, 1], [10, 0]),
  ...rollouts('hard', [30, 0], [30, 0], [4, 0], [4, null]),
  ...rollouts('middle', [8, 1], [30, 0], [12, 0]),
])
  count.add(trajectory);
const conditions = count.conditions();

describe('conditions', () => {
  it('counts tasks without success, easy ones, and what wanders', () => {
    expect(conditions).toMatchObject({ tasks: 3, rollouts: 9, zero: ['hard'], easy: ['easy'] });
    expect(conditions.success).toBeCloseTo((2 / 3 + 0 + 1 / 3) / 3);
    expect(conditions.failures).toEqual([4, 10, 12, 30, 30, 30]);
    expect(conditions.successes).toEqual([2, 3, 8]);
    expect(conditions.atLimit).toBe(0.5);
  });

  it('says what the dynamic length would cut: never of a task without success', () => {
    // Caps 5 and 10: 10 − 5, 30 − 10 and 12 − 10 of 129 steps.
    expect(conditions.beyondCap).toBeCloseTo(27 / 129);
  });

  it('takes the mean entropy of each step', () => {
    expect(conditions.entropies.length).toBe(129);
    expect(conditions.entropies[0]).toBeCloseTo(0.2);
  });

  it('is a table', () => {
    const rows = conditionsTable(conditions).rows.map((row) => row[2]);
    expect(rows).toEqual([
      ...['33.3% of 9 rollouts, 3 tasks', '1 (33%)', '1 (33%)', '4 / 30 / 30', '50%', '21% of all'],
      ...['2 / 3 / 8', '0.20 / 0.20 / 0.20', '100%'],
    ]);
  });
});

describe('quantile', () => {
  it('takes the lower of two, and nothing of nothing', () => {
    expect([quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3, 4], 1), quantile([], 0.5)]).toEqual([3, 4, null]);
  });
});
