import { describe, expect, it } from 'vitest';
import type { Action } from '../../guest/guest.ts';
import { ACTION_TYPES } from './computer13.ts';
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

  it('takes no action_type but a text', () => {
    for (const action_type of [{ toString: [] }, ['CLICK'], 7, null]) {
      const { actions, parseError } = read({ action_type, x: 1, y: 2 }, { x: 0, y: 0 });
      expect([actions, parseError]).toEqual([[], 'an action is code, a word or an object with action_type']);
    }
  });

  it('reads all of computer_13, as objects, JSON and Python dictionaries', () => {
    const all: [string, Record<string, unknown>, Action[]][] = [
      ['MOVE_TO', { x: 5.4, y: 6.6 }, [{ type: 'move', x: 5, y: 7 }]],
      ['CLICK', { x: 1, y: 2, button: 'right' }, [{ type: 'right_click', x: 1, y: 2 }]],
      ['CLICK', { button: 'middle' }, [{ type: 'middle_click', x: 8, y: 9 }]],
      ['CLICK', { num_clicks: 3 }, [{ type: 'triple_click', x: 8, y: 9 }]],
      ['MOUSE_DOWN', {}, [{ type: 'mouse_down', button: 'left' }]],
      ['MOUSE_UP', { button: 'right' }, [{ type: 'mouse_up', button: 'right' }]],
      ['RIGHT_CLICK', { x: 3, y: 4 }, [{ type: 'right_click', x: 3, y: 4 }]],
      ['DOUBLE_CLICK', { x: 3, y: 4 }, [{ type: 'double_click', x: 3, y: 4 }]],
      ['DRAG_TO', { x: 3, y: 4 }, [{ type: 'drag', x: 8, y: 9, to_x: 3, to_y: 4 }]],
      [
        'SCROLL',
        { dx: -2, dy: 3 },
        [
          { type: 'scroll', direction: 'up', amount: 3 },
          { type: 'scroll', direction: 'left', amount: 2 },
        ],
      ],
      ['TYPING', { text: "it's\n" }, [{ type: 'type', text: "it's\n" }]],
      ['PRESS', { key: 'Return' }, [{ type: 'hotkey', keys: ['enter'] }]],
      ['KEY_DOWN', { key: 'ctrlleft' }, [{ type: 'key_down', key: 'ctrl' }]],
      ['KEY_UP', { key: 'ctrl' }, [{ type: 'key_up', key: 'ctrl' }]],
      ['HOTKEY', { keys: ['ctrl', 'pgdn'] }, [{ type: 'hotkey', keys: ['ctrl', 'pagedown'] }]],
      ['WAIT', {}, [{ type: 'wait' }]],
      ['FAIL', {}, [{ type: 'fail' }]],
      ['DONE', {}, [{ type: 'finished' }]],
    ];
    expect([...new Set(all.map(([name]) => name))].sort()).toEqual([...ACTION_TYPES].sort());
    for (const [action_type, parameters, actions] of all) {
      const action = { action_type, parameters };
      const expected = { actions, parseError: null };
      const place = () => ({ x: 8, y: 9 });
      expect(read(action, place())).toEqual(expected);
      expect(read({ action_type, ...parameters }, place())).toEqual(expected);
      expect(read(JSON.stringify(action), place())).toEqual(expected);
      expect(read(`\`\`\`json\n${JSON.stringify([action], null, 2)}\n\`\`\``, place())).toEqual(expected);
      const python = JSON.stringify(action).replace(/"(\w+)":/g, "'$1':");
      expect(read(python, place())).toEqual(expected);
    }
  });

  it.each([
    [{ action_type: 'MOVE_TO', parameters: { x: 5 } }, 'y must be a number'],
    [{ action_type: 'MOVE_TO' }, 'x must be a number'],
    [{ action_type: 'CLICK', parameters: { x: 1, y: 2, z: 3 } }, 'CLICK takes no "z"'],
    [{ action_type: 'CLICK', parameters: { num_clicks: 9 } }, 'num_clicks must be 1, 2 or 3'],
    [{ action_type: 'CLICK', parameters: { button: 'top' } }, 'button must be left, middle or right'],
    [{ action_type: 'CLICK', parameters: { x: Number.POSITIVE_INFINITY, y: 1 } }, 'x must be a number'],
    [{ action_type: 'PRESS', parameters: { key: 'banana' } }, 'there is no key "banana"'],
    [{ action_type: 'SCROLL', parameters: { dy: 0 } }, 'there is no action'],
    [{ action_type: 'constructor' }, 'unknown action_type "constructor"'],
    ["{'action_type': 'CLICK', 'parameters': {'x': 1 + 1}}", 'only numbers, texts, lists and dictionaries'],
    ['```python\npyautogui.click(1, 2)', 'a code fence is not closed'],
    ['```python\n```', 'there is no action'],
    ['I think I should click.', 'only calls with literal arguments'],
  ])('says why %j is no action', (action, reason) => {
    expect(read(action).actions).toEqual([]);
    expect(read(action).parseError).toContain(reason);
  });

  it('reads fenced code with words, and the fence of a text that is typed as text', () => {
    const reply = "First I save.\n```python\nimport pyautogui\npyautogui.hotkey('ctrl', 's')\n```\nThen:\n```DONE```";
    expect(read(reply).actions).toEqual([{ type: 'hotkey', keys: ['ctrl', 's'] }, { type: 'finished' }]);
    expect(read("pyautogui.write('```js')").actions).toEqual([{ type: 'type', text: '```js' }]);
    expect(read('```WAIT```').actions).toEqual([{ type: 'wait' }]);
    expect(read(['pyautogui.click(1, 2)', 'FAIL']).actions).toEqual([{ type: 'click', x: 1, y: 2 }, { type: 'fail' }]);
  });

  it('moves the pointer only by what it understood', () => {
    const pointer = { x: 1, y: 1 };
    read('pyautogui.moveTo(5, 5); pyautogui.fly()', pointer);
    expect(pointer).toEqual({ x: 1, y: 1 });
    read('pyautogui.moveTo(5, 5)', pointer);
    expect(pointer).toEqual({ x: 5, y: 5 });
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
