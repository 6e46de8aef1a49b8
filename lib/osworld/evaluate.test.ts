import { describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import type { Action } from '../guest/guest.ts';
import { evaluateTask } from './evaluate.ts';
import { FakeGuest } from './guest.testing.ts';
import { normaliseTask } from './task.ts';
import { Unsupported } from './unsupported.ts';

const done: Action = { type: 'finished' };
const fail: Action = { type: 'fail' };

const taskOf = (evaluator: object) => normaliseTask({ id: 't1', instruction: 'do it', evaluator }, 'x');
const rule = (rules: unknown) => ({ type: 'rule', rules });

function evaluate(evaluator: object, lastAction: Action | null = done, guest = new FakeGuest()) {
  return evaluateTask(taskOf(evaluator), guest, { lastAction });
}

/** An evaluator whose metrics give these scores: the similarity of "abcd" to a text. */
function scores(conj: string | undefined, ...texts: string[]) {
  return {
    func: texts.map(() => 'fuzzy_match'),
    result: texts.map((text) => rule(text)),
    expected: texts.map(() => rule({ expected: 'abcd' })),
    ...(conj ? { conj } : {}),
  };
}

describe('evaluateTask', () => {
  it('scores infeasible tasks 1 for fail alone', async () => {
    expect(await evaluate({ func: 'infeasible' }, fail)).toBe(1);
    expect(await evaluate({ func: 'infeasible' }, done)).toBe(0);
    expect(await evaluate({ func: 'infeasible' }, null)).toBe(0);
  });

  it('scores feasible tasks 0 after fail, whatever the state', async () => {
    const evaluator = { func: 'exact_match', result: rule('a'), expected: rule({ expected: 'a' }) };
    expect(await evaluate(evaluator, done)).toBe(1);
    expect(await evaluate(evaluator, null)).toBe(1);
    expect(await evaluate(evaluator, fail)).toBe(0);
  });

  it('combines with "and": a 0 ends it, else the mean', async () => {
    expect(await evaluate(scores('and', 'abcd', 'abxd'))).toBeCloseTo(0.875, 12);
    expect(await evaluate(scores(undefined, 'abcd', 'xy'))).toBe(0);
  });

  it('combines with "or": a 1 ends it, else the greatest', async () => {
    expect(await evaluate(scores('or', 'abxd', 'ab'))).toBeCloseTo(0.75, 12);
    expect(await evaluate(scores('or', 'xy', 'abcd'))).toBe(1);
    const broken = { type: 'no_such_getter' };
    const evaluator = { ...scores('or', 'abcd', 'x'), result: [rule('abcd'), broken] };
    expect(await evaluate(evaluator)).toBe(1);
  });

  it('runs the post-configuration first, also for infeasible tasks', async () => {
    const guest = new FakeGuest();
    const postconfig = [{ type: 'execute', parameters: { command: ['note'], stdout: 'note.out' } }];
    guest.outputs.set('note', { output: 'hello\n' });
    const evaluator = {
      postconfig,
      func: 'check_list',
      result: { type: 'cache_file', path: 'note.out' },
      expected: rule({ expect: ['^hello$'] }),
    };
    expect(await evaluate(evaluator, done, guest)).toBe(1);
    expect(await evaluate({ func: 'infeasible', postconfig }, fail, guest)).toBe(1);
    expect(guest.calls).toEqual(['execute note', 'execute note']);
  });

  it('scores 0 where a result file is missing, but an expected one is an error', async () => {
    const missing = { type: 'cache_file', path: 'none' };
    const evaluator = { func: 'check_list', result: missing, expected: rule({}) };
    expect(await evaluate(evaluator)).toBe(0);
    const swapped = { func: 'compare_text_file', result: rule(null), expected: missing };
    await expect(evaluate(swapped)).rejects.toThrow('expected getter cache_file failed: none');
  });

  it.each([
    [{ func: 'no_such' }, /^t1: metric no_such is not supported/],
    [
      { func: 'exact_match', result: { type: 'page_colour' }, expected: rule({}) },
      /^t1: result getter page_colour is not/,
    ],
    [
      { func: 'exact_match', result: { type: 'vm_file' }, expected: rule({}) },
      /^t1: .*path should be a string, but is missing/,
    ],
    [{ func: 'exact_match', postconfig: [{ type: 'tune' }] }, /^t1: set-up step postconfig\[0\] \(tune\) is not/],
    [{ func: 'exact_match', result: rule('a') }, /^t1: metric exact_match needs rules/],
  ])('an evaluator that cannot be carried out is an error that names the task', async (evaluator, message) => {
    const error = await evaluate(evaluator).catch((thrown: DartError) => thrown);
    expect((error as DartError).describe?.()).toMatch(message);
  });

  it('compares a result with itself where the task gives both files one name, unless it is strict', async () => {
    const guest = new FakeGuest().put('/a.js', 'mine');
    const task = taskOf({
      func: 'diff_text_file',
      result: { type: 'vm_file', path: '/a.js', dest: 'a.js' },
      expected: { type: 'cloud_file', path: 'data:,other', dest: 'a.js' },
    });
    expect(await evaluateTask(task, guest, { lastAction: done })).toBe(1);
    expect(await evaluateTask(task, guest, { lastAction: done, protocol: { fidelity: 'strict' } })).toBe(0);
    expect(await evaluateTask(task, new FakeGuest(), { lastAction: done })).toBe(0);
  });

  it('hands on what is unsupported as it is', async () => {
    const audio = { type: 'rule', rules: {} };
    const error = await evaluate({ func: 'compare_audios', result: audio, expected: audio }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Unsupported);
  });

  it('a desktop that breaks is an error, not a 0', async () => {
    const guest = new FakeGuest();
    guest.readFile = async () => Promise.reject(new Error('connection lost'));
    const evaluator = {
      func: 'file_contains',
      result: { type: 'vm_file', path: '/a' },
      expected: rule({ expected: [] }),
    };
    await expect(evaluate(evaluator, done, guest)).rejects.toThrow('result getter vm_file failed: connection lost');
  });
});
