import { describe, expect, it } from 'vitest';
import { thrown } from '../errors.testing.ts';
import type { DartError } from '../errors.ts';
import { parseRecord } from './parse.ts';
import { makeSample, makeStep } from './records.testing.ts';

const task = {
  type: 'task',
  v: 1,
  task_id: 'os/a',
  domain: 'os',
  id: 'a',
  instruction: 'Open the file.',
  evaluator: { func: 'exact_match' },
};

function failure(value: unknown): string {
  try {
    parseRecord('task', value, 'tasks:3');
  } catch (error) {
    return (error as DartError).describe();
  }
  return 'valid';
}

describe('parseRecord', () => {
  it('keeps fields that it does not know, at every depth', () => {
    const value = { ...task, proxy: false, evaluator: { func: 'exact_match', note: { deep: [1] } } };
    expect(parseRecord('task', value, 'x:1')).toEqual(value);
  });

  it('names the field, what was expected and what was found', () => {
    expect(failure({ ...task, evaluator: { func: 7 } })).toContain('tasks:3: not a valid task: evaluator.func: ');
    expect(failure({ ...task, evaluator: { func: 7 } })).toContain('7');
    expect(failure({ ...task, instruction: undefined })).toContain('instruction: expected string, received undefined');
    expect(failure({ ...task, config: [{ type: 'launch' }, { parameters: {} }] })).toContain('config[1].type: ');
  });

  it('refuses a sample with what no policy can have reported, and takes rounding for what it is', () => {
    const sampled = (logprobs: (number | null)[], entropy: number | null = null) =>
      makeSample({ entropy, step: makeStep(0, { text: 'ab', token_ids: [1, 2], logprobs }) });
    const refused = (value: unknown) => thrown(() => parseRecord('sample', value, 'samples:7')).describe();
    expect(refused(sampled([-1, 5]))).toBe(
      'samples:7: not a valid sample: step.response.logprobs[1]: expected a log-probability, at most 0, received 5. Try: docs/schemas/sample.json',
    );
    expect(refused(sampled([5, 5]))).toContain('step.response.logprobs[0]: ');
    expect(refused(sampled([Number.NaN, -1]))).toContain('step.response.logprobs[0]: ');
    expect(refused(sampled([-1, -1], -0.5))).toContain('entropy: expected an entropy, at least 0, received -0.5');
    expect(refused(makeSample({ temperature: 1e-308 }))).toContain(
      'temperature: expected a temperature of 0, or from 0.000001 to 1000000, received 1e-308',
    );
    for (const temperature of [0, 1e-6, 1e6]) {
      expect(parseRecord('sample', makeSample({ temperature }), 'x:1').temperature).toBe(temperature);
    }
    for (const logprobs of [[-1, 0], [1e-6, null], [-9999]]) {
      expect(parseRecord('sample', sampled(logprobs, -1e-6), 'x:1').step.response.logprobs).toEqual(logprobs);
    }
  });

  it('counts further faults', () => {
    expect(failure({ ...task, id: 1, domain: 2 })).toContain('(and 1 more)');
  });

  it('says when a record is from a newer toolkit', () => {
    expect(failure({ ...task, v: 2 })).toBe(
      'tasks:3: the record has schema version 2, this toolkit reads up to 1. Try: a newer version of the toolkit',
    );
  });
});
