import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import type { Action } from './guest.ts';
import { PYAUTOGUI_PREFIX, parsePyautogui, toPyautogui } from './pyautogui.ts';

describe('parsePyautogui', () => {
  const cases: [string, Action[]][] = [
    ['pyautogui.click(100, 200)', [{ type: 'click', x: 100, y: 200 }]],
    ['pyautogui.click(x=1.6, y=2, clicks=2)', [{ type: 'double_click', x: 2, y: 2 }]],
    ["pyautogui.click(5, 6, button='right')", [{ type: 'right_click', x: 5, y: 6 }]],
    [
      'pyautogui.moveTo(3, 4); pyautogui.click()',
      [
        { type: 'move', x: 3, y: 4 },
        { type: 'click', x: 3, y: 4 },
      ],
    ],
    [
      'pyautogui.moveTo((3, 4), duration=.5)\npyautogui.dragRel(10, -2, button="left")',
      [
        { type: 'move', x: 3, y: 4 },
        { type: 'drag', x: 3, y: 4, to_x: 13, to_y: 2 },
      ],
    ],
    [
      "import pyautogui\nimport time\npyautogui.hotkey('ctrl', 's')  # save\ntime.sleep(1.5)",
      [
        { type: 'hotkey', keys: ['ctrl', 's'] },
        { type: 'wait', ms: 1500 },
      ],
    ],
    [
      "pyautogui.press(['a', 'enter'], presses=2)",
      ['a', 'enter', 'a', 'enter'].map((k) => ({ type: 'hotkey', keys: [k] })),
    ],
    ["pyautogui.typewrite('it\\'s \\\\ \"a\"\\n', interval=0.1)", [{ type: 'type', text: 'it\'s \\ "a"\n' }]],
    ["pyautogui.write(r'a\\n')", [{ type: 'type', text: 'a\\n' }]],
    ['pyautogui.scroll(-3, x=7, y=8)', [{ type: 'scroll', x: 7, y: 8, direction: 'down', amount: 3 }]],
    ['pyautogui.hscroll(2)', [{ type: 'scroll', direction: 'right', amount: 2 }]],
    [
      "pyautogui.mouseDown(1, 2, 'right'); pyautogui.mouseUp(button='right')",
      [
        { type: 'move', x: 1, y: 2 },
        { type: 'mouse_down', button: 'right' },
        { type: 'mouse_up', button: 'right' },
      ],
    ],
    ["import pyperclip; pyperclip.copy('né'); pyautogui.hotkey('ctrl', 'v')", [{ type: 'type', text: 'né' }]],
    [`${PYAUTOGUI_PREFIX}pyautogui.keyDown('shift')`, [{ type: 'key_down', key: 'shift' }]],
  ];
  it.each(cases)('%s', (source, actions) => {
    expect(parsePyautogui(source)).toEqual(actions);
  });

  it.each([
    ['__import__("os").system("x")', 'only calls with literal arguments'],
    ['pyautogui.click(1 + 2, 3)', 'only calls with literal arguments'],
    ['for i in range(3): pyautogui.click()', 'only calls with literal arguments'],
    ["os.system('ls')", 'os.system is not among the calls'],
    ['pyautogui.constructor(1)', 'is not among the calls'],
    ["pyautogui.write('open", 'a string has no end'],
    ['pyautogui.write(3)', 'a string is expected'],
    ["pyautogui.click('x.png')", 'x must be a number'],
  ])('refuses %s', (source, message) => {
    expect(() => parsePyautogui(source)).toThrow(DartError);
    expect(() => parsePyautogui(source)).toThrow(message);
  });

  it('moves the pointer that it is given', () => {
    const pointer = { x: 9, y: 9 };
    expect(parsePyautogui('pyautogui.click()', pointer)).toEqual([{ type: 'click', x: 9, y: 9 }]);
    parsePyautogui('pyautogui.moveTo(2, 3)', pointer);
    expect(pointer).toEqual({ x: 2, y: 3 });
  });
});

describe('toPyautogui', () => {
  it('types what pyautogui cannot type by other ways', () => {
    expect(toPyautogui({ type: 'type', text: 'a<b\n' })).toBe(
      'pyautogui.typewrite("a"); pyautogui.hotkey("shift", ","); pyautogui.typewrite("b"); pyautogui.press("enter")',
    );
    expect(toPyautogui({ type: 'type', text: '日本' })).toBe(
      'import pyperclip; pyperclip.copy("日本"); pyautogui.hotkey("ctrl", "v")',
    );
    expect(toPyautogui({ type: 'hotkey', keys: ['Return'] })).toBe('pyautogui.press("enter")');
    expect(toPyautogui({ type: 'scroll', direction: 'down', x: 7, y: 8 })).toBe('pyautogui.scroll(-5, x=7, y=8)');
    expect(toPyautogui({ type: 'scroll', direction: 'right', amount: 2 })).toBe('pyautogui.hscroll(2)');
    expect(toPyautogui({ type: 'finished' })).toBe('');
  });

  it('is undone by parsePyautogui', () => {
    const at = { x: fc.integer({ min: 0, max: 4000 }), y: fc.integer({ min: 0, max: 4000 }) };
    const action = fc.oneof(
      fc.record({
        type: fc.constantFrom('click', 'double_click', 'triple_click', 'right_click', 'middle_click', 'move'),
        ...at,
      }),
      fc.record({
        type: fc.constant('scroll'),
        ...at,
        direction: fc.constantFrom('up', 'down', 'left', 'right'),
        amount: fc.integer({ min: 1, max: 30 }),
      }),
      fc.record({
        type: fc.constant('hotkey'),
        keys: fc.array(fc.constantFrom('ctrl', 'a', '\\', "'", '"', 'f5'), { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ type: fc.constant('mouse_down'), button: fc.constantFrom('left', 'right', 'middle') }),
      fc.record({ type: fc.constantFrom('key_down', 'key_up'), key: fc.constantFrom('shift', 'a', "'") }),
    ) as fc.Arbitrary<Action>;
    fc.assert(
      fc.property(action, (each) => {
        expect(parsePyautogui(PYAUTOGUI_PREFIX + toPyautogui(each))).toEqual([each]);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const typed = parsePyautogui(toPyautogui({ type: 'type', text })).map((a) => {
          if (a.type === 'type') return a.text;
          if (a.type !== 'hotkey') return '?';
          return { enter: '\n', tab: '\t', 'shift,': '<' }[a.keys.join('')] ?? '?';
        });
        expect(typed.join('')).toBe(text);
      }),
    );
  });
});
