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
    ["pyautogui.press('Return')", [{ type: 'hotkey', keys: ['enter'] }]],
    ["pyautogui.hotkey('ctrlleft', 'S', interval=0.1)", [{ type: 'hotkey', keys: ['ctrl', 'S'] }]],
    ["pyautogui.hotkey(['ctrl', 'c'])", [{ type: 'hotkey', keys: ['ctrl', 'c'] }]],
    [
      "pyautogui.press(keys='down', presses=2, interval=0.2)",
      ['down', 'down'].map((k) => ({ type: 'hotkey', keys: [k] })),
    ],
    ['pyautogui.leftClick(None, None)', [{ type: 'click', x: 0, y: 0 }]],
    ['pyautogui.click([3, 4], button="PRIMARY")', [{ type: 'click', x: 3, y: 4 }]],
    // left, top, width and height, as pyautogui's own searches give a box
    ['pyautogui.click((10, 20, 30, 40))', [{ type: 'click', x: 25, y: 40 }]],
    [
      'pyautogui.doubleClick(3, 4, button="right")',
      [
        { type: 'right_click', x: 3, y: 4 },
        { type: 'right_click', x: 3, y: 4 },
      ],
    ],
    [
      'pyautogui.moveTo(1, 2, 0.5, pyautogui.easeInOutQuad); pyautogui.dragTo(5, 6, 1, button="middle")',
      [
        { type: 'move', x: 1, y: 2 },
        { type: 'mouse_down', button: 'middle' },
        { type: 'move', x: 5, y: 6 },
        { type: 'mouse_up', button: 'middle' },
      ],
    ],
    ["pyautogui.mouseDown('right')", [{ type: 'mouse_down', button: 'right' }]],
    ['pyautogui.scroll(0, 7, 8); pyautogui.click()', [{ type: 'click', x: 7, y: 8 }]],
    ["pyautogui.write(('a'\n  'b'))", [{ type: 'type', text: 'ab' }]],
    ["pyautogui.write('''two\nlines''')", [{ type: 'type', text: 'two\nlines' }]],
    [String.raw`pyautogui.write('\x41\u00e9\U0001f600\101\q')`, [{ type: 'type', text: 'Aé😀A\\q' }]],
    // names that were assigned, as agents that number the elements of a screen write them
    [
      'tag_3 = (30, 40)\nx, y = 5, 6\npyautogui.moveTo(tag_3)\npyautogui.click(x, y)',
      [
        { type: 'move', x: 30, y: 40 },
        { type: 'click', x: 5, y: 6 },
      ],
    ],
    [
      'import pyautogui as pg, time as t\npg.click(1, 2)\nt.sleep(1)',
      [
        { type: 'click', x: 1, y: 2 },
        { type: 'wait', ms: 1000 },
      ],
    ],
    ["from pyautogui import *\r\nclick(1, 2)\r\nprint('done')\r\n", [{ type: 'click', x: 1, y: 2 }]],
    ["'''It's a (thought)'''\npyautogui.click(1, 2)", [{ type: 'click', x: 1, y: 2 }]],
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
    ['pyautogui.click(1, 2, colour="red")', 'pyautogui.click takes no colour'],
    ['pyautogui.click(1, x=2)', 'pyautogui.click has x twice'],
    ['pyautogui.press("a", 1, 0, 0, 0, 0)', 'pyautogui.press takes no argument 6'],
    ['pyautogui.click(1, 2, clicks=4)', 'clicks must be 1, 2 or 3'],
    ['pyautogui.click(1, 2, button="top")', 'button must be left, middle or right'],
    ['pyautogui.click((1, 2, 3))', 'a place is two numbers, or four of a box'],
    ['pyautogui.click(x, 3)', 'only calls with literal arguments'],
    ['pyautogui.click(1e999, 3)', 'x must be a number'],
    ['pyautogui.press("a", presses=1000000000)', 'more than 1000 actions'],
    ['pyautogui.press("a", presses=1.5)', 'presses must be a whole number'],
    ['pyautogui.click();'.repeat(1001), 'more than 1000 actions'],
    ['time.sleep(-1)', 'a pause cannot be negative'],
    ['x, y = 1', 'too many or too few values'],
    [`pyautogui.click(${'['.repeat(40)}`, 'too many brackets'],
    ['pyautogui.click(1, 2) and 3', 'only calls with literal arguments'],
    ['DONE', 'only calls with literal arguments'],
    ['pyautogui.hotkey(__proto__=[1])', 'takes no __proto__'],
  ])('refuses %s', (source, message) => {
    expect(() => parsePyautogui(source)).toThrow(DartError);
    expect(() => parsePyautogui(source)).toThrow(message);
  });

  it("takes OSWorld's words among the statements where they are asked for", () => {
    expect(parsePyautogui('pyautogui.click(1, 2)\nWAIT\nDONE', { x: 0, y: 0 }, { words: true })).toEqual([
      { type: 'click', x: 1, y: 2 },
      { type: 'wait' },
      { type: 'finished' },
    ]);
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
      fc.record({ type: fc.constant('mouse_up'), button: fc.constantFrom('left', 'right', 'middle') }),
      fc.record({
        type: fc.constant('scroll'),
        direction: fc.constantFrom('up', 'down', 'left', 'right'),
        amount: fc.integer({ min: 1, max: 30 }),
      }),
    ) as fc.Arbitrary<Action>;
    fc.assert(
      fc.property(action, (each) => {
        expect(parsePyautogui(PYAUTOGUI_PREFIX + toPyautogui(each))).toEqual([each]);
      }),
    );
    fc.assert(
      fc.property(at.x, at.y, at.x, at.y, (x, y, to_x, to_y) => {
        const drag: Action = { type: 'drag', x, y, to_x, to_y };
        expect(parsePyautogui(toPyautogui(drag))).toEqual([{ type: 'move', x, y }, drag]);
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
