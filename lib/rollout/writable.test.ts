import { describe, expect, it } from 'vitest';
import type { Action } from '../stream/action.ts';
import { recordLine } from '../stream/finite.ts';
import { parseRecord } from '../stream/parse.ts';
import type { Trajectory } from '../stream/records.ts';
import { readReply } from './read_reply.ts';
import { stepRecord } from './step_record.ts';
import { trajectoryRecord } from './trajectory_record.ts';
import { writable } from './writable.ts';

function step(index: number, actions: Action[], entropies?: number[]) {
  const reply = { text: `Action: ${index}`, tokenIds: [1, 2], logprobs: [-1, Number.NaN], finishReason: 'stop' };
  return stepRecord({
    index,
    screenshot: { sha256: 'a'.repeat(64), media_type: 'image/png', width: 10, height: 10 },
    reply: { ...reply, modelVersion: 0, ...(entropies ? { entropies } : {}) },
    shown: { history: 0, screenshots: 1 },
    actions,
    parseError: null,
    policy_ms: 1,
    env_ms: 1,
  });
}

function trajectory(steps: Trajectory['steps']): Trajectory {
  const task = {
    type: 'task',
    v: 1,
    task_id: 'os/a',
    id: 'a',
    domain: 'os',
    instruction: 'x',
    evaluator: { func: 'f' },
  };
  const group = { group_id: 'r/os/a/0', task, size: 1, members: [0], seed: 1, maxSteps: 5 } as const;
  return trajectoryRecord({
    item: { group, rolloutIndex: 0 } as unknown as Parameters<typeof trajectoryRecord>[0]['item'],
    end: { steps, outcome: 'success', reward: 1 },
    runId: 'r',
    envId: 'e',
    policy: { name: 'p', coordinates: 'absolute' },
    sampling: { temperature: 1 },
    started: new Date(0),
    finished: new Date(1),
  });
}

describe('a trajectory that cannot be written', () => {
  it('is an error of its policy that names the reply, and keeps the steps before it', () => {
    const broken = trajectory([
      step(0, [{ type: 'wait' }]),
      step(1, [{ type: 'click', x: 1, y: Number.NaN }]),
      step(2, [{ type: 'finished' }]),
    ]);
    expect(() => recordLine(broken)).toThrow('NaN');
    const written = writable(broken);
    expect(parseRecord('trajectory', JSON.parse(recordLine(written)), 'test')).toMatchObject({
      outcome: 'policy_error',
      reward: null,
      error: 'step 2 cannot be recorded: actions[0].y is NaN; the reply was "Action: 1"',
    });
    expect(written.steps).toEqual(broken.steps.slice(0, 1));
  });

  it('is not one whose tokens have no numbers: they are unscored', () => {
    const whole = trajectory([step(0, [{ type: 'wait' }], [Number.POSITIVE_INFINITY, 0.5])]);
    expect(writable(whole)).toBe(whole);
    const { response } = JSON.parse(recordLine(whole)).steps[0];
    expect([response.logprobs, response.entropies]).toEqual([
      [-1, null],
      [null, 0.5],
    ]);
  });
});

describe('a reply that the reader itself fails at', () => {
  it('is one that cannot be read', () => {
    const text = {
      matchAll: () => {
        throw new RangeError('Maximum call stack size exceeded');
      },
    } as unknown as string;
    const convention = { screen: { width: 10, height: 10 }, coordinates: 'absolute' } as const;
    expect(readReply({ text, finishReason: 'stop' }, convention)).toEqual({
      thought: null,
      actions: [],
      parseError: 'the reply could not be read: Maximum call stack size exceeded',
    });
  });
});
