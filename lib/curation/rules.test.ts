import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trajectory } from '../store/trajectories.testing.ts';
import { stepEntropy } from '../stream/entropy.ts';
import { isComplete, join, openGroup, usableMembers } from './group.ts';
import { leftOut } from './left-out.ts';
import { checkLogprobs } from './logprobs.ts';
import type { Member } from './member.ts';
import { presetOptions } from './options.ts';
import { unusable } from './outcome.ts';
import { placeFor } from './pool.ts';
import { samplerBiases } from './sampler.ts';
import { isStale } from './staleness.ts';
import type { Scored } from './success.ts';
import { isSuccess } from './success.ts';
import { trimGroup } from './trim.ts';
import { constantReward, moments } from './variance.ts';

function member(id: string, reward: number, minute = 0, injected = false): Member {
  return { trajectory: trajectory({ id, reward, minute }) as Scored, injected };
}

describe('staleness', () => {
  it('counts from the oldest version of a trajectory that spans several', () => {
    const spanning = trajectory({ id: 'a', version: 9 });
    spanning.steps[0]!.model_version = 6;
    expect(isStale(spanning, 10, 4)).toBe(false);
    expect(isStale(spanning, 11, 4)).toBe(true);
    expect(isStale(spanning, null, 0)).toBe(false);
  });
});

describe('outcome', () => {
  it('names why a trajectory cannot be learned from', () => {
    expect(unusable(trajectory({ id: 'a', reward: null, outcome: 'evaluator_error' }))).toBe('evaluator_error');
    expect(unusable(trajectory({ id: 'a', reward: null, outcome: 'truncated' }))).toBe('unscored');
    expect(unusable(trajectory({ id: 'a', steps: 0 }))).toBe('no_steps');
    expect(unusable(trajectory({ id: 'a', group: '' }))).toBe('no_group');
    expect(unusable(trajectory({ id: 'a', outcome: 'truncated' }))).toBeNull();
  });
});

describe('group', () => {
  it('is complete when each planned member has come, failed ones too', () => {
    const first = trajectory({ id: 'a', size: 3, index: 0 });
    const group = openGroup(first, 5);
    expect(join(group, first, null, 5)).toBe('joined');
    expect(join(group, trajectory({ id: 'b', size: 3, index: 2 }), 'env_error', 6)).toBe('joined');
    expect(isComplete(group)).toBe(false);
    expect(join(group, trajectory({ id: 'c', size: 3, index: 1, reward: 1 }), null, 9)).toBe('joined');
    expect(isComplete(group)).toBe(true);
    expect(group.touched).toBe(9);
    expect(usableMembers(group).map((t) => t.trajectory_id)).toEqual(['a', 'c']);
  });

  it('lets a second try take the place of a failed one, and nothing else', () => {
    const group = openGroup(trajectory({ id: 'a' }), 0);
    join(group, trajectory({ id: 'broken', reward: null }), 'env_error', 0);
    expect(join(group, trajectory({ id: 'broken2', reward: null }), 'env_error', 0)).toBe('duplicate');
    expect(join(group, trajectory({ id: 'again' }), null, 0)).toBe('joined');
    expect(join(group, trajectory({ id: 'third' }), null, 0)).toBe('duplicate');
    expect(join(group, trajectory({ id: 'x', task: 'gimp/t9', index: 1 }), null, 0)).toBe('other_task');
    expect(usableMembers(group).map((t) => t.trajectory_id)).toEqual(['again']);
  });
});

describe('pool', () => {
  it('DART: the oldest failure makes room when nobody succeeded', () => {
    const failures = [member('a', 0, 3), member('b', 0, 1), member('c', 0, 2)];
    expect(placeFor(failures, 'dart')).toBe(1);
    expect(placeFor([...failures, member('d', 1)], 'dart')).toBeNull();
    expect(placeFor(failures, 'off')).toBeNull();
  });

  it('ARPO: member 0 makes room when std < 0.05 and mean < 0.2', () => {
    expect(placeFor([member('a', 0, 3), member('b', 0, 1)], 'arpo')).toBe(0);
    // Mean 0.15, std 0.0707: too much spread. Mean 0.2: not below.
    expect(placeFor([member('a', 0.1), member('b', 0.2)], 'arpo')).toBeNull();
    expect(placeFor([member('a', 0.2), member('b', 0.2)], 'arpo')).toBeNull();
    expect(placeFor([member('a', 0.16), member('b', 0.14)], 'arpo')).toBe(0);
  });
});

describe('variance', () => {
  it('says what a constant group did', () => {
    expect(constantReward([0, 0])).toBe('all_failed');
    expect(constantReward([1, 1, 1])).toBe('all_succeeded');
    expect(constantReward([0.5, 0.5])).toBe('no_variance');
    expect(constantReward([0, 0.25])).toBeNull();
  });

  it('knows mean and unbiased std', () => {
    expect(moments([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ mean: 5, std: Math.sqrt(32 / 7) });
    expect(moments([3])).toEqual({ mean: 3, std: 0 });
  });
});

describe('trimming', () => {
  it('keeps the only success, and the order', () => {
    const members = [0, 0, 0, 0, 1, 0, 0, 0].map((reward, i) => member(`m${i}`, reward));
    for (const groupId of ['g1', 'g2', 'g3', 'g4']) {
      const kept = trimGroup(members, 2, groupId);
      expect(kept.filter((one) => isSuccess(one.trajectory)).map((one) => one.trajectory.trajectory_id)).toEqual([
        'm4',
      ]);
      expect(kept).toHaveLength(2);
    }
    expect(trimGroup(members, 8, 'g')).toEqual(members);
  });

  it('always keeps at least one success and one failure where there were both, and never more than asked', () => {
    const rewards = fc.array(fc.constantFrom(0, 1), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(rewards, fc.integer({ min: 2, max: 12 }), fc.string(), (group, max, id) => {
        const members = group.map((reward, i) => member(`m${i}`, reward));
        const kept = trimGroup(members, max, id);
        expect(kept).toHaveLength(Math.min(max, members.length));
        expect(new Set(kept.map((one) => one.trajectory.reward))).toEqual(new Set(group));
        expect(members.filter((one) => kept.includes(one))).toEqual(kept);
        expect(trimGroup(members, max, id)).toEqual(kept);
      }),
    );
  });
});

describe('log-probabilities', () => {
  function stepWith(logprobs: (number | null)[]) {
    const step = trajectory({ id: 'a' }).steps[0]!;
    return { ...step, response: { ...step.response, token_ids: [1, 2, 3, 4], logprobs } };
  }

  it('counts what cannot be used as unscored', () => {
    const checked = checkLogprobs(stepWith([-0.5, null, -9999, 0.5]));
    expect(checked.step.response.logprobs).toEqual([-0.5, null, null, null]);
    expect(checked.unscoredTokens).toBe(3);
    expect(checked.withoutLogprobs).toBe(false);
    expect(checkLogprobs(stepWith([Number.NaN, -1, -1, -1])).step.response.logprobs[0]).toBeNull();
  });

  it('trusts no list of another length than the tokens', () => {
    const checked = checkLogprobs(stepWith([-0.5, -0.5, -0.5]));
    expect(checked.step.response.logprobs).toEqual([null, null, null, null]);
    expect(checked.withoutLogprobs).toBe(true);
  });

  it('leaves a good step as it is', () => {
    const step = stepWith([-0.5, 0, -3, -1e-9]);
    expect(checkLogprobs(step)).toEqual({ step, unscoredTokens: 0, withoutLogprobs: false });
    expect(checkLogprobs(step).step).toBe(step);
  });
});

describe('entropy', () => {
  it('is the mean over the tokens where all are known, and never guessed', () => {
    const step = trajectory({ id: 'a' }).steps[0]!;
    expect(stepEntropy(step)).toBe(0.75);
    expect(stepEntropy({ ...step, response: { ...step.response, entropies: [0.5, null] } })).toBeNull();
    expect(stepEntropy({ ...step, response: { ...step.response, entropies: undefined } })).toBeNull();
    expect(stepEntropy({ ...step, response: { ...step.response, entropies: [0.5] } })).toBeNull();
  });
});

describe('presets', () => {
  it('differ in the pool', () => {
    expect([presetOptions('dart').pool, presetOptions('arpo').pool, presetOptions('grpo').pool]).toEqual([
      'dart',
      'arpo',
      'off',
    ]);
    expect(() => presetOptions('dapo')).toThrow('unknown preset "dapo"');
  });
});

describe('sampler', () => {
  it('names the settings that bias log-probabilities', () => {
    expect(
      samplerBiases({ temperature: 0.7, top_p: 1, top_k: -1, frequency_penalty: 0, repetition_penalty: 1 }),
    ).toEqual([]);
    expect(samplerBiases({ temperature: 1, top_p: 0.8, top_k: 1024, min_p: 0.05, repetition_penalty: 1.1 })).toEqual([
      'top_p=0.8',
      'top_k=1024',
      'min_p=0.05',
      'repetition_penalty=1.1',
    ]);
  });
});

describe('what a decision leaves out', () => {
  const usable = [0, 1, 2].map((i) => trajectory({ id: `m${i}`, minute: 3 - i, index: i }) as Scored);
  const stored: Member = member('stored', 1, 0, true);
  const kept = (...members: Member[]) => ({
    ...{ group_id: 'g', run_id: 'r', task_id: 't', size: 3, reason: null },
    members,
    advantages: [],
  });
  const own = (i: number): Member => ({ trajectory: usable[i]!, injected: false });

  it('tells the one whose place a success took from those that were trimmed', () => {
    expect(leftOut(usable, kept(own(0), own(1), stored), 'dart')).toEqual({ replaced: usable[2], trimmed: [] });
    expect(leftOut(usable, kept(own(1), stored), 'dart')).toEqual({ replaced: usable[2], trimmed: [usable[0]] });
    expect(leftOut(usable, kept(stored, own(1), own(2)), 'arpo')).toEqual({ replaced: usable[0], trimmed: [] });
    expect(leftOut(usable, kept(own(1)), 'dart')).toEqual({ replaced: null, trimmed: [usable[0], usable[2]] });
  });
});
