import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../stream/shared.testing.ts';
import { asBoolean, evaluatorOf, normaliseTask, stepsOf } from './task.ts';

const plain = { id: 'a1', instruction: 'do it', snapshot: 'os', evaluator: { func: 'exact_match' } };

describe('normaliseTask', () => {
  it('fills type, version, task id and domain, and keeps unknown fields', () => {
    expect(normaliseTask({ ...plain, hint: 'look' }, 'x.json', 'chrome')).toEqual({
      type: 'task',
      v: 1,
      task_id: 'a1',
      domain: 'chrome',
      ...plain,
      hint: 'look',
      config: [],
    });
  });

  it('keeps a given task id and domain, and falls back to the snapshot', () => {
    expect(normaliseTask({ ...plain, task_id: 't', domain: 'vlc' }, 'x', 'chrome')).toMatchObject({
      task_id: 't',
      domain: 'vlc',
    });
    expect(normaliseTask(plain, 'x').domain).toBe('os');
  });

  it('does not change what it is given', () => {
    const json = JSON.parse(JSON.stringify(plain));
    normaliseTask(json, 'x', 'chrome');
    expect(json).toEqual(plain);
  });

  it.each([
    [{ ...plain, id: '../etc' }, /^x\.json: id: an id holds only letters/],
    [{ ...plain, instruction: '' }, /^x\.json: instruction: /],
    [{ ...plain, evaluator: { func: [] } }, /^x\.json: evaluator\.func: /],
    [{ ...plain, config: [{ parameters: {} }] }, /^x\.json: config\.0\.type: /],
    [{ ...plain, evaluator: { func: ['a', 'b'], result: [{ type: 'rule' }] } }, /result has 1 entries, .*func has 2/],
    ['text', /^x\.json: the task: /],
  ])('names the field and the file of a malformed task', (json, message) => {
    let thrown: unknown;
    try {
      normaliseTask(json, 'x.json');
    } catch (error) {
      thrown = error;
    }
    expect((thrown as { describe(): string }).describe()).toMatch(message);
  });
});

describe('evaluatorOf', () => {
  it('makes lists of single entries and fills what is left out', () => {
    const task = normaliseTask({ ...plain, evaluator: { func: 'f', result: { type: 'rule' }, expected: [] } }, 'x');
    expect(evaluatorOf(task)).toEqual({
      funcs: ['f'],
      isList: false,
      results: [{ type: 'rule' }],
      expecteds: [null],
      options: [{}],
      conj: 'and',
      postconfig: [],
    });
  });
});

it('reads booleans as task files write them', () => {
  expect([true, 'true', 'True', 1, false, 'false', undefined, 0].map(asBoolean)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

describe.skipIf(!shared)('the task files of OSWorld', () => {
  const root = join(shared ?? '', 'osworld');
  const files = ['examples', 'examples_windows'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(root, folder, name)),
  );

  it('all parse: 369 of Ubuntu and 49 of Windows', () => {
    const tasks = files.map((file) => normaliseTask(JSON.parse(readFileSync(file, 'utf8')), file));
    expect(tasks).toHaveLength(418);
    const evaluators = tasks.map((task) => evaluatorOf(task));
    expect(evaluators.filter((evaluator) => evaluator.isList)).toHaveLength(54);
    expect(evaluators.filter((evaluator) => evaluator.conj === 'or').length).toBeGreaterThan(24);
    const steps = tasks.flatMap((task) => stepsOf(task.config));
    expect(steps.filter((step) => step.parameters.shell === 'true').length).toBeGreaterThan(0);
  });
});
