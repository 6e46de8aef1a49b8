import { describe, expect, it } from 'vitest';
import { makeSample, makeStep, makeTrajectory } from '../stream/records.testing.ts';
import { exampleOfSample, examplesOfTrajectory } from './examples.ts';
import type { Spelling } from './spelling.ts';

/** Letters a to d are tokens 1 to 4, the end is 0. */
const spelling: Spelling = {
  isReply: (ids) => ids.every((id) => id >= 0 && id < 5),
  encodeReply: (text) => (/^[a-d]+$/.test(text) ? [...[...text].map((c) => c.charCodeAt(0) - 96), 0] : null),
};

describe('exampleOfSample', () => {
  it('takes the tokens of the step and marks what no engine scored', () => {
    const step = makeStep(3, { text: 'ab', token_ids: [1, 2, 0], logprobs: [-0.5, null, -9999] });
    const example = exampleOfSample(makeSample({ step, advantage: -2, entropy: 0.7, step_index: 3 }), 'f:1', spelling);
    expect([...example!.tokens]).toEqual([1, 2, 0]);
    expect([...example!.rolloutLogp]).toEqual([-0.5, Number.NaN, Number.NaN]);
    expect(example).toMatchObject({ tokenised: false, advantage: -2, entropy: 0.7, where: 'f:1 (t step 3)' });
  });

  it('matches no log-probabilities to another number of tokens', () => {
    for (const logprobs of [
      [-0.5, -0.5],
      [-0.5, -0.5, -0.5, -0.5],
    ]) {
      const step = makeStep(0, { text: 'ab', token_ids: [1, 2, 0], logprobs });
      const { rolloutLogp } = exampleOfSample(makeSample({ step }), 'f:1', spelling)!;
      expect([...rolloutLogp]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    }
  });

  it('spells a reply without token ids, or with ids of another vocabulary, and leaves it unscored', () => {
    for (const ids of [[], [151_000, 3]]) {
      const step = makeStep(0, { text: 'ca', token_ids: ids, logprobs: ids.map(() => -1) });
      const example = exampleOfSample(makeSample({ step, injected: true }), 'f:1', spelling)!;
      expect([...example.tokens]).toEqual([3, 1, 0]);
      expect([...example.rolloutLogp].every(Number.isNaN)).toBe(true);
      expect(example).toMatchObject({ tokenised: true, injected: true });
    }
  });

  it('is null for a reply that cannot be spelt', () => {
    expect(exampleOfSample(makeSample({ step: makeStep(0, { text: 'xyz' }) }), 'f:1', spelling)).toBeNull();
  });

  it('scores a greedy step at temperature 1', () => {
    expect(exampleOfSample(makeSample({ temperature: 0 }), 'f:1', spelling)?.temperature).toBe(1);
    expect(exampleOfSample(makeSample({ temperature: 0.7 }), 'f:1', spelling)?.temperature).toBe(0.7);
  });
});

describe('examplesOfTrajectory', () => {
  it('gives each step the replies before it, also those that cannot be spelt', () => {
    const trajectory = makeTrajectory(['a', '?', 'b'].map((text, i) => makeStep(i, { text })));
    const examples = examplesOfTrajectory(trajectory, 'f:2', spelling);
    expect(examples.map((e) => e?.history ?? null)).toEqual([[], null, ['a', '?']]);
    expect(examples[2]).toMatchObject({ where: 'f:2 (t step 2)', advantage: 1 });
  });

  it('counts replies whose own steps an import left out among the replies before', () => {
    const after = makeStep(1, { text: 'b' });
    const trajectory = makeTrajectory([{ ...after, prompt: { history: 1, unseen_replies: ['a'] } }]);
    expect(examplesOfTrajectory(trajectory, 'f:1', spelling)[0]!.history).toEqual(['a']);
  });

  it('keeps the last 35 replies', () => {
    const trajectory = makeTrajectory(Array.from({ length: 40 }, (_, i) => makeStep(i, { text: 'abcd'[i % 4]! })));
    const last = examplesOfTrajectory(trajectory, 'f:1', spelling)[39]!;
    expect(last.history).toHaveLength(35);
    expect(last.history[34]).toBe('abcd'[38 % 4]);
  });
});
