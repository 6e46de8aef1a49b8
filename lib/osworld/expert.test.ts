import { describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import type { AccessibleNode } from '../guest/guest.ts';
import { type ExpertStep, expertAction, expertOf, expertStepSchema } from './expert.ts';
import { normaliseTask } from './task.ts';

function widget(role: string, name: string, x: number, y: number, states = ['showing', 'enabled']): AccessibleNode {
  return { role, name, bounds: { x, y, width: 16, height: 8 }, states, children: [] };
}

const tree: AccessibleNode = {
  role: 'desktop-frame',
  name: 'main',
  states: [],
  children: [
    widget('push-button', 'Save', 0, 0, ['enabled']),
    widget('push-button', 'Save', 40, 80),
    widget('push-button', 'Save', 80, 80),
    widget('list-item', 'Save', 0, 40),
    { role: 'frame', name: 'window', states: ['showing'], children: [widget('entry', 'Name', 8, 16)] },
  ],
};

const save = { role: 'push-button', name: 'Save' };

describe('expertAction', () => {
  it.each<[ExpertStep, object]>([
    [
      { action: 'click', target: save },
      { type: 'click', x: 48, y: 84 },
    ],
    [
      { action: 'double_click', target: { ...save, nth: 1 } },
      { type: 'double_click', x: 88, y: 84 },
    ],
    [
      { action: 'right_click', target: { role: 'list-item', name: 'Save' } },
      { type: 'right_click', x: 8, y: 44 },
    ],
    [
      { action: 'drag', target: save, to: { role: 'entry', name: 'Name' } },
      { type: 'drag', x: 48, y: 84, to_x: 16, to_y: 20 },
    ],
    [
      { action: 'scroll', target: save, direction: 'up' },
      { type: 'scroll', x: 48, y: 84, direction: 'up' },
    ],
    [
      { action: 'scroll', direction: 'down' },
      { type: 'scroll', direction: 'down' },
    ],
    [
      { action: 'type', text: 'hi\n' },
      { type: 'type', text: 'hi\n' },
    ],
    [
      { action: 'hotkey', keys: ['ctrl', 's'] },
      { type: 'hotkey', keys: ['ctrl', 's'] },
    ],
    [{ action: 'wait' }, { type: 'wait' }],
    [{ action: 'finished' }, { type: 'finished' }],
    [{ action: 'fail' }, { type: 'fail' }],
  ])('%j', (step, action) => {
    expect(expertAction(step, tree)).toEqual(action);
  });

  it('names the widget that is not showing, and those that are', () => {
    const step: ExpertStep = { action: 'click', target: { role: 'push-button', name: 'Send' } };
    let thrown: unknown;
    try {
      expertAction(step, tree);
    } catch (error) {
      thrown = error;
    }
    expect((thrown as DartError).describe()).toBe(
      'expert step: no push-button "Send" is showing. Try: one of the push-buttons that show: Save, Save',
    );
    expect(() => expertAction({ action: 'click', target: { ...save, nth: 2 } }, tree)).toThrow('"Save" number 2');
  });
});

describe('expertOf', () => {
  const taskWith = (expert: unknown) =>
    normaliseTask({ id: 't1', instruction: 'do it', evaluator: { func: 'infeasible' }, expert }, 'x');

  it('is null where a task has none', () => {
    expect(expertOf(taskWith(undefined))).toBeNull();
    expect(expertOf(taskWith([{ action: 'fail' }]))).toEqual([{ action: 'fail' }]);
  });

  it.each([
    [[{ action: 'click' }], 'expert.0: click needs target'],
    [[{ action: 'type' }], 'expert.0: type needs text'],
    [[{ action: 'drag', target: save }], 'expert.0: drag needs to'],
    [[{ action: 'run' }], 'expert.0.action: '],
    [[], 'expert: '],
  ])('names what is malformed in %j', (expert, message) => {
    expect(() => expertOf(taskWith(expert))).toThrow(message);
  });

  it('refuses unknown fields', () => {
    expect(expertStepSchema.safeParse({ action: 'wait', code: 'rm' }).success).toBe(false);
  });
});
