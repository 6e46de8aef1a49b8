import { describe, expect, it } from 'vitest';
import { parseOsworldAction } from './osworld_action.ts';

const read = (action: unknown, pointer = { x: 0, y: 0 }) => parseOsworldAction(action, pointer);

describe('parseOsworldAction', () => {
  it.each([
    ['WAIT', { type: 'wait' }],
    [' DONE\n', { type: 'finished' }],
    ['DONE (terminate)', { type: 'finished' }],
    ['FAIL', { type: 'fail' }],
  ])('takes the word %s', (word, action) => expect(read(word)).toEqual({ actions: [action], parseError: null }));

  it('reads pyautogui under imports and thoughts', () => {
    const code = [
      'import pyautogui',
      'import time',
      "'''",
      'Thought:',
      "It's the menu (top left); then wait.",
      "'''",
      '',
      "pyautogui.click(12.4, 30.6, button='left')",
      'time.sleep(0.5)',
      "pyautogui.hotkey('ctrl', 'a')",
    ].join('\n');
    expect(read(code).actions).toEqual([
      { type: 'click', x: 12, y: 31 },
      { type: 'wait', ms: 500 },
      { type: 'hotkey', keys: ['ctrl', 'a'] },
    ]);
    expect(read(`'''only a thought'''`)).toEqual({ actions: [], parseError: 'there is no action' });
    expect(read({ action_type: 'tool_use', command: 'pyautogui.press("enter")' }).actions).toEqual([
      { type: 'hotkey', keys: ['enter'] },
    ]);
  });

  it('keeps quotes inside a call', () => {
    expect(read(`pyautogui.write('''two\nlines''')`).actions).toEqual([{ type: 'type', text: 'two\nlines' }]);
  });

  it('reads computer_13 and remembers where the pointer is', () => {
    const pointer = { x: 0, y: 0 };
    expect(read({ action_type: 'MOVE_TO', parameters: { x: 5, y: 6 } }, pointer).actions).toEqual([
      { type: 'move', x: 5, y: 6 },
    ]);
    expect(read({ action_type: 'CLICK', parameters: { num_clicks: 2 } }, pointer).actions).toEqual([
      { type: 'double_click', x: 5, y: 6 },
    ]);
    expect(read({ action_type: 'DRAG_TO', x: 50, y: 60 }, pointer).actions).toEqual([
      { type: 'drag', x: 5, y: 6, to_x: 50, to_y: 60 },
    ]);
    const rest = [
      { action_type: 'SCROLL', parameters: { dx: 0, dy: -3 } },
      { action_type: 'TYPING', parameters: { text: 'hi' } },
      { action_type: 'HOTKEY', parameters: { keys: ['ctrl', 's'] } },
      { action_type: 'DONE' },
    ];
    expect(read(rest, pointer).actions).toEqual([
      { type: 'scroll', direction: 'down', amount: 3 },
      { type: 'type', text: 'hi' },
      { type: 'hotkey', keys: ['ctrl', 's'] },
      { type: 'finished' },
    ]);
  });

  it('says what it does not understand, and takes nothing of it', () => {
    expect(read('pyautogui.click(1, 2); os.system("x")')).toEqual({
      actions: [],
      parseError: 'os.system is not among the calls that are understood (os.system("x"))',
    });
    expect(read({ action_type: 'JUMP' }).parseError).toBe('unknown action_type "JUMP"');
    expect(read({ action_type: 'CLICK', parameters: { x: 'left' } }).parseError).toBe('x must be a number');
    expect(read({ action_type: 'TYPING' }).parseError).toBe('text must be a text');
    expect(read({ action_type: 'HOTKEY', parameters: { keys: [] } }).parseError).toBe(
      'keys must be a list of key names',
    );
    expect(read(null).parseError).toBe('there is no action');
    expect(read({}).parseError).toBe('an action is code, a word or an object with action_type');
  });
});
