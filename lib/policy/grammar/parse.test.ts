import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../guest/guest.ts';
import { parseReply } from './parse.ts';

const tiny = { screen: { width: 160, height: 120 }, coordinates: 'absolute' } as const;
const actionsOf = (text: string) => parseReply(text, tiny).actions;
const only = (call: string) => {
  const reply = parseReply(`Action: ${call}`, tiny);
  expect(reply.parseError).toBeNull();
  expect(reply.actions).toHaveLength(1);
  return reply.actions[0];
};
const errorOf = (text: string) => {
  const reply = parseReply(text, tiny);
  expect(reply.actions).toEqual([]);
  return reply.parseError;
};

describe('parseReply: verbs', () => {
  const table: [string, Action][] = [
    ["click(start_box='<|box_start|>(52,36)<|box_end|>')", { type: 'click', x: 52, y: 36 }],
    ["left_single(point='<point>52 36</point>')", { type: 'click', x: 52, y: 36 }],
    ["left_double(start_box='(52,36)')", { type: 'double_click', x: 52, y: 36 }],
    ["right_single(start_box='(52, 36)')", { type: 'right_click', x: 52, y: 36 }],
    ['click(start_box=<|box_start|>(52,36)<|box_end|>)', { type: 'click', x: 52, y: 36 }],
    ['click(52, 36)', { type: 'click', x: 52, y: 36 }],
    ['drag(1,2,3,4)', { type: 'drag', x: 1, y: 2, to_x: 3, to_y: 4 }],
    ["drag((1,2), end_box='(3,4)')", { type: 'drag', x: 1, y: 2, to_x: 3, to_y: 4 }],
    ['scroll(9, 8, down)', { type: 'scroll', x: 9, y: 8, direction: 'down' }],
    ['type(5)', { type: 'type', text: '5' }],
    ['click((52,36))', { type: 'click', x: 52, y: 36 }],
    ["click(start_box='[50,30,60,40]')", { type: 'click', x: 55, y: 35 }],
    ['click(start_box=[50, 30, 60, 40])', { type: 'click', x: 55, y: 35 }],
    ["drag(start_box='(1,2)', end_box='(3,4)')", { type: 'drag', x: 1, y: 2, to_x: 3, to_y: 4 }],
    ["select(start_box='(1,2)', end_box='(3,4)')", { type: 'drag', x: 1, y: 2, to_x: 3, to_y: 4 }],
    ["hotkey(key='ctrl s')", { type: 'hotkey', keys: ['ctrl', 's'] }],
    ["hotkey(key='Ctrl+Shift+T')", { type: 'hotkey', keys: ['ctrl', 'shift', 't'] }],
    ["hotkey(key='ctrl-a')", { type: 'hotkey', keys: ['ctrl', 'a'] }],
    ["hotkey(key='ctrl +')", { type: 'hotkey', keys: ['ctrl', '+'] }],
    ["hotkey(key='ctrl -')", { type: 'hotkey', keys: ['ctrl', '-'] }],
    ["press(key='Return')", { type: 'hotkey', keys: ['enter'] }],
    ["press('A')", { type: 'hotkey', keys: ['A'] }],
    ["hotkey(key='alt PageDown')", { type: 'hotkey', keys: ['alt', 'pagedown'] }],
    ["keydown(key='shift')", { type: 'key_down', key: 'shift' }],
    ["keyup(key='shift')", { type: 'key_up', key: 'shift' }],
    ["type(content='hello')", { type: 'type', text: 'hello' }],
    ["scroll(start_box='(9,8)', direction='down')", { type: 'scroll', x: 9, y: 8, direction: 'down' }],
    ["scroll(direction='left', amount=3)", { type: 'scroll', direction: 'left', amount: 3 }],
    ['wait()', { type: 'wait' }],
    ['wait(seconds=5)', { type: 'wait', ms: 5000 }],
    ['finished()', { type: 'finished' }],
    ["finished(content='done')", { type: 'finished', text: 'done' }],
    ['call_user()', { type: 'fail' }],
    ["fail(reason='no such menu')", { type: 'fail', reason: 'no such menu' }],
    ['error_env()', { type: 'fail' }],
    ["click(point='<point>52 36</point>', button='middle')", { type: 'middle_click', x: 52, y: 36 }],
    ['click(x=52, y=36)', { type: 'click', x: 52, y: 36 }],
    ["click(start_box='<bbox>50 30 60 40</bbox>')", { type: 'click', x: 55, y: 35 }],
    ["click(start_box='<|box_start|>(50,30),(60,40)<|box_end|>')", { type: 'click', x: 55, y: 35 }],
    ["click(start_box='[[50,30,60,40]]')", { type: 'click', x: 55, y: 35 }],
    ["click(start_box='（52，36）')", { type: 'click', x: 52, y: 36 }],
    ["click(start_box='52 36')", { type: 'click', x: 52, y: 36 }],
    ["click(start_box='(51.6, 3.6e1)')", { type: 'click', x: 52, y: 36 }],
    [
      "drag(start_point='<point>1 2</point>', end_point='<point>3 4</point>')",
      { type: 'drag', x: 1, y: 2, to_x: 3, to_y: 4 },
    ],
    ["middle_click(start_box='(52,36)')", { type: 'middle_click', x: 52, y: 36 }],
    ["hover(point='(52,36)')", { type: 'move', x: 52, y: 36 }],
    ["hotkey(key='ctrl + shift + t')", { type: 'hotkey', keys: ['ctrl', 'shift', 't'] }],
    ["hotkey(key='ctrl++')", { type: 'hotkey', keys: ['ctrl', '+'] }],
    ["hotkey(keys=['ctrl', 'a'])", { type: 'hotkey', keys: ['ctrl', 'a'] }],
    ["hotkey('ctrl', 'a')", { type: 'hotkey', keys: ['ctrl', 'a'] }],
    ["hotkey(key='Control_L Page Down')", { type: 'hotkey', keys: ['ctrl', 'pagedown'] }],
    ["press(key='ArrowLeft')", { type: 'hotkey', keys: ['left'] }],
    ["press(key='ctrl')", { type: 'key_down', key: 'ctrl' }],
    ["release(key='ctrl')", { type: 'key_up', key: 'ctrl' }],
    ["scroll(point='<point>9 8</point>', direction='Right')", { type: 'scroll', x: 9, y: 8, direction: 'right' }],
    ["click(start_box='(52,36)').", { type: 'click', x: 52, y: 36 }],
    ["click(start_box='(52,36)')<|im_end|>", { type: 'click', x: 52, y: 36 }],
    ["```\nclick(start_box='(52,36)')\n```", { type: 'click', x: 52, y: 36 }],
    // pyautogui, computer_13 and OSWorld's words, in pixels whatever the policy's units
    ['pyautogui.click(52, 36)', { type: 'click', x: 52, y: 36 }],
    ['{"action_type": "CLICK", "parameters": {"x": 52, "y": 36}}', { type: 'click', x: 52, y: 36 }],
    ['```python\nimport pyautogui\npyautogui.press("enter")\n```', { type: 'hotkey', keys: ['enter'] }],
    ['DONE', { type: 'finished' }],
  ];
  it.each(table)('%s', (call, action) => expect(only(call)).toEqual(action));
});

describe('parseReply: text', () => {
  it('knows the escapes of Python strings', () => {
    expect(only(String.raw`type(content='it\'s \"a\" \\ b\n')`)).toEqual({ type: 'type', text: 'it\'s "a" \\ b\n' });
    expect(only(String.raw`type(content='\d \u00e9')`)).toEqual({ type: 'type', text: '\\d é' });
  });

  it('keeps line breaks, blank lines, parentheses and other scripts inside a string', () => {
    expect(only("type(content='def f(x):\n\n  return (x)\n')")).toEqual({
      type: 'type',
      text: 'def f(x):\n\n  return (x)\n',
    });
    expect(only("type(content='请勿跟踪 🙂')")).toEqual({ type: 'type', text: '请勿跟踪 🙂' });
  });

  it('takes an apostrophe that was not escaped as part of the text', () => {
    expect(only("type(content='don't stop')")).toEqual({ type: 'type', text: "don't stop" });
    expect(only("finished(content='it's done, isn't it')")).toEqual({ type: 'finished', text: "it's done, isn't it" });
  });

  it('reads double quotes, and "Action:" inside a string', () => {
    expect(only('type(content="it\'s")')).toEqual({ type: 'type', text: "it's" });
    expect(only("type(content='Action: go()')")).toEqual({ type: 'type', text: 'Action: go()' });
    expect(only("type(content='a\nAction: b')")).toEqual({ type: 'type', text: 'a\nAction: b' });
  });
});

describe('parseReply: several actions of one call, and of one reply', () => {
  it('makes what a desktop cannot do at once of what it can', () => {
    expect(actionsOf("Action: long_press(start_box='(5,6)', time='2')")).toEqual([
      { type: 'move', x: 5, y: 6 },
      { type: 'mouse_down', button: 'left' },
      { type: 'wait', ms: 2000 },
      { type: 'mouse_up', button: 'left' },
    ]);
    expect(actionsOf("Action: mouse_down(point='<point>5 6</point>', button='right')")).toEqual([
      { type: 'move', x: 5, y: 6 },
      { type: 'mouse_down', button: 'right' },
    ]);
  });

  it('holds what is pressed until the same reply releases it', () => {
    expect(actionsOf("Action: press(key='q')\nclick(start_box='(1,2)')\nrelease(key='q')\npress(key='q')")).toEqual([
      { type: 'key_down', key: 'q' },
      { type: 'click', x: 1, y: 2 },
      { type: 'key_up', key: 'q' },
      { type: 'hotkey', keys: ['q'] },
    ]);
  });

  it('takes commas between calls, and code in a string with quotes that were not escaped', () => {
    expect(actionsOf("Action: press('a'), press('b')")).toHaveLength(2);
    expect(actionsOf(String.raw`Action: type(content='print('hi')\n')`)).toEqual([
      { type: 'type', text: "print('hi')\n" },
    ]);
    expect(actionsOf("Action: type(content='f('a')')\n\npress('enter')")).toEqual([
      { type: 'type', text: "f('a')" },
      { type: 'hotkey', keys: ['enter'] },
    ]);
  });
});

describe('parseReply: places', () => {
  const fullHd = { width: 1920, height: 1080 };
  it('reads each convention of coordinates, and stops at the edge of the screen', () => {
    const at = (coordinates: 'absolute' | 'relative' | 'smart-resize', text: string) =>
      parseReply(`Action: click(start_box='${text}')`, { screen: fullHd, coordinates }).actions[0];
    expect(at('relative', '<|box_start|>(500,250)<|box_end|>')).toEqual({ type: 'click', x: 960, y: 270 });
    expect(at('smart-resize', '<point>966 546</point>')).toEqual({ type: 'click', x: 960, y: 540 });
    expect(at('absolute', '(5000,-7)')).toEqual({ type: 'click', x: 1919, y: 0 });
    expect(at('relative', '(1000,1000)')).toEqual({ type: 'click', x: 1919, y: 1079 });
  });

  it('reads code in pixels, whatever the convention', () => {
    const convention = { screen: fullHd, coordinates: 'relative' } as const;
    expect(parseReply('Action: pyautogui.moveTo(1500, 2000); pyautogui.dragTo(-5, 9)', convention).actions).toEqual([
      { type: 'move', x: 1500, y: 1079 },
      { type: 'drag', x: 1500, y: 1079, to_x: 0, to_y: 9 },
    ]);
  });

  it('does not guess where the pointer is', () => {
    const error = 'click names no place, and nothing before it does';
    expect(parseReply('Action: pyautogui.click()', tiny).parseError).toBe(error);
    const pointer = { x: 7, y: 8 };
    expect(parseReply('Action: pyautogui.click()', { ...tiny, pointer }).actions).toEqual([
      { type: 'click', x: 7, y: 8 },
    ]);
    parseReply('Action: pyautogui.moveTo(1, 2)', { ...tiny, pointer });
    expect(pointer).toEqual({ x: 1, y: 2 });
  });
});

describe('parseReply: replies', () => {
  it('needs no thought, reads Chinese and marks in bold, and code without "Action:" in fences', () => {
    expect(parseReply('Thought：我要点击。\nAction：wait()', tiny)).toEqual({
      thought: '我要点击。',
      actions: [{ type: 'wait' }],
      parseError: null,
    });
    expect(actionsOf('**Action:** wait()')).toEqual([{ type: 'wait' }]);
    expect(parseReply('I save.\n```python\npyautogui.hotkey("ctrl", "s")\n```', tiny)).toEqual({
      thought: 'I save.',
      actions: [{ type: 'hotkey', keys: ['ctrl', 's'] }],
      parseError: null,
    });
  });

  it('splits thought and action at the last "Action:"', () => {
    const reply = parseReply('Thought: The Action: label is there.\nI click it.\nAction: wait()', tiny);
    expect(reply).toEqual({
      thought: 'The Action: label is there.\nI click it.',
      actions: [{ type: 'wait' }],
      parseError: null,
    });
    expect(parseReply('wait()', tiny)).toEqual({ thought: null, actions: [{ type: 'wait' }], parseError: null });
  });

  it('reads several actions, apart by blank lines or line breaks, in order', () => {
    const press = (key: string) => ({ type: 'hotkey', keys: [key] });
    expect(actionsOf("Action: press('a')\n\npress('b')\npress('c')")).toEqual([press('a'), press('b'), press('c')]);
  });

  it('plays nothing of a reply in which one action is broken', () => {
    expect(errorOf("Action: click(start_box='(1,2)')\n\nclick(start_box='(1,')")).toMatch(/start_box is not a point/);
    expect(errorOf("Action: click(start_box='(1,2)')\nAction: jump()")).toMatch(/unknown action "jump"/);
  });

  it.each([
    ['', 'there is no action'],
    ['Thought: hm', 'there is no action'],
    ['I would click on the button.', 'there is no action'],
    ['Action: finished', 'finished needs ()'],
    ['finished', 'finished needs ()'],
    ['Action: wait()\nfinished\nwait()', 'finished needs ()'],
    ["Action: type(content=f'{1 + 1}')", 'type( has a string with f before it'],
    ["Action: type(content=rb'x')", 'type( has a string with rb before it'],
    ["Action: type(content='a\\x00b')", 'type has a NUL character'],
    ["pyautogui.write('a\\0b')", 'type has a NUL character'],
    ['pyautogui.click(x=10)', 'click names no y, and nothing before it does'],
    ['pyautogui.moveTo(y=10)', 'move names no x, and nothing before it does'],
    ['pyautogui.dragTo(x=10)', 'drag names no place, and nothing before it does'],
    [
      'pyautogui.moveTo(1, 2); pyautogui.moveRel(1e308, 0); pyautogui.moveRel(1e308, 0)',
      'x of move is out of all range',
    ],
    ['time.sleep(1e308)', 'ms of wait is out of all range'],
    ["Action: wait(seconds='1e308')", 'ms of wait is out of all range'],
    ['pyautogui.scroll(1e300)', 'amount of scroll is out of all range'],
    ['{"action_type": "SCROLL", "parameters": {"dx": 0, "dy": 1e300}}', 'amount of scroll is out of all range'],
    ['Action: ', 'there is no action'],
    ['Action: dance()', 'unknown action "dance"'],
    ['Action: constructor()', 'unknown action "constructor"'],
    ['Action: click()', 'start_box is missing'],
    ["Action: click(start_box='(1,2,3)')", 'start_box is not a point or a box'],
    [`Action: click(start_box='(${'9'.repeat(400)},1)')`, 'start_box is not a point or a box'],
    ["Action: click(start_box='(1,2)'", 'click( is not closed'],
    ["Action: type(content='abc", 'a string in type( is not closed'],
    ["Action: click(start_box='(1,2)', colour='red')", 'click takes no "colour"'],
    ["Action: click(start_box='(1,2)', point='(1,2)')", 'click has "point" twice'],
    ["Action: scroll(direction='sideways')", 'direction must be one of up, down, left, right'],
    ["Action: scroll(direction='up', amount=0)", 'amount is not a whole number above 0'],
    ["Action: hotkey(key='')", 'a key is missing'],
    ["Action: click(start_box='(1,2)') and then", 'expected "(" after and'],
    ["Action: click(start_box=__import__('os'))", 'start_box is not a point or a box'],
    ["Action: click(start_box='(1,2')", 'start_box is not a point or a box'],
    ["Action: click(start_box='(1,2]')", 'start_box is not a point or a box'],
    ["Action: click(start_box='[]')", 'start_box is not a point or a box'],
    ["Action: click(start_box='(1,2,3,4,5,6)')", 'start_box is not a point or a box'],
    ["Action: click(start_box='(a,b)')", 'start_box is not a point or a box'],
    ["Action: open_app(app_name='Files')", 'unknown action "open_app"'],
    ["Action: hotkey(key='ctrl banana')", 'there is no key "banana"'],
    ["Action: drag(start_box='(1,2)')", 'end_box is missing'],
    ["Action: wait(seconds='long')", 'seconds is not a duration'],
    ["Action: release(key='ctrl a')", 'key_up takes one key, not 2'],
    ['Action: pyautogui.click(1, 2); os.system("x")', 'os.system is not among the calls that are understood'],
    ['Action: {"action_type": "FLY"}', 'unknown action_type "FLY"'],
    [`Action: ${'wait()\n'.repeat(1001)}`, 'there are more than 1000 actions'],
  ])('says why %j is not an action', (text, reason) => expect(errorOf(text)).toContain(reason));

  it.each([
    ["Action: type(content=r'C:\\new')", 'C:\\new'],
    ["Action: type(content=r'it\\'s')", "it\\'s"],
    ["Action: type(content=u'a\\n')", 'a\n'],
    ["Action: type(content='''it's \"a\"\nb''')", 'it\'s "a"\nb'],
    ['Action: type(content="""a""b""")', 'a""b'],
    ["Action: type(content='')", ''],
    ["Action: type(content=''')", "'"],
    ["Action: type(content='\ud800')", '\ufffd'],
  ])('reads %j as Python does', (text, typed) =>
    expect(parseReply(text, tiny).actions).toEqual([{ type: 'type', text: typed }]),
  );

  it('never throws, and gives either actions or a reason', () => {
    const piece = fc.constantFrom(
      'Action:',
      'Thought:',
      'click',
      '(',
      ')',
      "'",
      '"',
      '\\',
      ',',
      '=',
      'start_box',
      '(1,2)',
      '[1,2,3,4]',
      '\n',
      ' ',
      '<|box_start|>',
      '<|box_end|>',
      'type(content=',
      'hotkey(key=',
      '#',
      '```',
      '+',
      'wait()',
      '\u{1f600}',
      '\ud800',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.array(piece, { maxLength: 30 }).map((p) => p.join('')),
    );
    fc.assert(
      fc.property(text, (reply) => {
        const { actions, parseError } = parseReply(reply, tiny);
        expect(actions.length > 0).toBe(parseError === null);
        for (const action of actions) {
          const x = 'x' in action ? Number(action.x ?? 0) : 0;
          expect(Number.isInteger(x) && x >= 0 && x < 160).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
