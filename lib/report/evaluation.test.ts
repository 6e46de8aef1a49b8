import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../stream/records.ts';
import { compareResults } from './compare.ts';
import { Evaluation } from './evaluation.ts';

let rollouts = 0;
function rollout(task_id: string, domain: string, reward: number | null, steps = 2): Trajectory {
  const outcome = reward === null ? 'env_error' : reward > 0.5 ? 'success' : 'failure';
  const trajectory_id = `r${rollouts++}`;
  return {
    trajectory_id,
    task_id,
    domain,
    reward,
    outcome,
    steps: Array.from({ length: steps }),
  } as unknown as Trajectory;
}

function evaluate(...rollouts: Trajectory[]): Evaluation {
  const evaluation = new Evaluation();
  for (const trajectory of rollouts) evaluation.add(trajectory);
  return evaluation;
}

describe('Evaluation', () => {
  const evaluation = evaluate(
    rollout('b', 'vlc', 1, 3),
    rollout('b', 'vlc', 0, 5),
    rollout('a', 'os', 1),
    rollout('a', 'os', 1),
    rollout('c', 'vlc', null),
  );

  it('scores each task over its scored rollouts and never counts an error as 0', () => {
    expect(evaluation.results()).toMatchObject([
      { task_id: 'a', domain: 'os', score: 1, rollouts: 2, scored: 2, successes: 2 },
      { task_id: 'b', domain: 'vlc', score: 0.5, rollouts: 2, scored: 2, successes: 1, mean_steps: 4 },
      { task_id: 'c', domain: 'vlc', score: null, rollouts: 1, scored: 0, outcomes: { env_error: 1 } },
    ]);
  });

  it('takes a trajectory once', () => {
    const once = new Evaluation();
    const trajectory = rollout('a', 'os', 1);
    expect([once.add(trajectory), once.add(trajectory)]).toEqual([true, false]);
    expect(once.total().scored).toBe(1);
  });

  it('adds up domains and the whole', () => {
    expect(evaluation.byDomain().get('vlc')).toMatchObject({ scored: 2, rollouts: 3, score: { value: 0.5 } });
    expect(evaluation.summary('dart-eval')).toMatchObject({
      success: 0.75,
      tasks: 3,
      rollouts: 5,
      scored: 4,
      outcomes: { success: 3, failure: 1, env_error: 1 },
    });
    expect(evaluation.summary('dart-eval').coverage).toBeCloseTo(2 / 3, 12);
  });

  it('has no success to tell without a scored rollout', () => {
    expect(evaluate().summary('dart-eval')).toMatchObject({ success: null, success_low: null, coverage: null });
  });
});

describe('compareResults', () => {
  it('pairs by task and leaves out what only one side scored', () => {
    const before = evaluate(rollout('a', 'os', 0), rollout('b', 'os', 1), rollout('c', 'os', null)).results();
    const after = evaluate(rollout('a', 'os', 1), rollout('b', 'os', 1), rollout('c', 'os', 1)).results();
    const comparison = compareResults(before, after)!;
    expect(comparison).toMatchObject({ before: 0.5, after: 1, unpaired: ['c'] });
    expect(comparison.gain.value).toBe(0.5);
    expect(comparison.gain.low).toBe(0);
    expect(comparison.gain.high).toBe(1);
  });

  it('is null when nothing can be paired', () => {
    expect(compareResults([], evaluate(rollout('a', 'os', 1)).results())).toBeNull();
  });
});
