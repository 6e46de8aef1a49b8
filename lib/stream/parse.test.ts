import { describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import { parseRecord } from './parse.ts';

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

  it('counts further faults', () => {
    expect(failure({ ...task, id: 1, domain: 2 })).toContain('(and 1 more)');
  });

  it('says when a record is from a newer toolkit', () => {
    expect(failure({ ...task, v: 2 })).toBe(
      'tasks:3: the record has schema version 2, this toolkit reads up to 1. Try: a newer version of the toolkit',
    );
  });
});
