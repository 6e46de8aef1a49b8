import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_ACTIONS } from '../../guest/pyautogui.ts';
import { type Action, actionSchema } from '../../stream/action.ts';
import { parseOsworldAction } from './osworld_action.ts';
import { parseReply } from './parse.ts';

/** No number that JSON does not have, and no half character, whatever a model says. */
function expectWritable(value: unknown): void {
  expect(JSON.parse(Buffer.from(JSON.stringify(value)).toString())).toEqual(value);
  expect(JSON.stringify(value)).not.toMatch(/(?<!\\)\\ud[89a-f]/);
}

/** Replies made to be slow: each repeats what could be looked at again and again. */
const SHAPES: Record<string, (size: number) => string> = {
  digits: (n) => `Action: click(start_box='(${'1'.repeat(n)}x,2)')`,
  'digits without quotes': (n) => `Action: click(${'1'.repeat(n)}x)`,
  'digits of a duration': (n) => `Action: wait(seconds='${'1'.repeat(n)}x')`,
  'digits of a count': (n) => `Action: scroll(direction='up', amount=${'1'.repeat(n)}x)`,
  'blanks in a box': (n) => `Action: click(start_box='(1${' '.repeat(n)}x,2)')`,
  'brackets in a box': (n) => `Action: click(start_box='${'('.repeat(n)}')`,
  quotes: (n) => `Action: type(content='${"'".repeat(n)}x`,
  'quotes and blanks': (n) => `Action: type(content='${"' ".repeat(n / 2)}x`,
  'quotes and parentheses': (n) => `Action: type(content='${"')'".repeat(n / 3)}x`,
  'quotes, commas and words': (n) => `Action: type(content='${"',a".repeat(n / 3)}`,
  'quote, comma and one long word': (n) => `Action: type(content='x', ${'a'.repeat(n)}`,
  backslashes: (n) => `Action: type(content='${'\\'.repeat(n)}`,
  arguments: (n) => `Action: click(${'a=1,'.repeat(n / 4)}`,
  'nested brackets': (n) => `Action: click(${'('.repeat(n)}`,
  calls: (n) => `Action: ${'wait()\n'.repeat(n / 7)}`,
  'presses and releases': (n) => `Action: ${"press('a')\nrelease('a')\n".repeat(n / 24)}`,
  'comments and fences': (n) => `Action: ${'#\n```\n;'.repeat(n / 7)}!`,
  marks: (n) => 'Action: '.repeat(n / 8),
  'marks with open strings': (n) => "Action: type(content='".repeat(n / 22),
  'blanks after a mark': (n) => `Action${' '.repeat(n)}!`,
  'a thought of blanks': (n) => `Thought${' '.repeat(n)}!`,
  chord: (n) => `Action: hotkey(key='${'a+'.repeat(n / 2)}b')`,
  'chord of dashes': (n) => `Action: hotkey(key='${'ctrl-'.repeat(n / 5)}b')`,
  'keys apart': (n) => `Action: hotkey(key='${'page '.repeat(n / 5)}')`,
  'one long key': (n) => `Action: hotkey(key='${'k'.repeat(n)}')`,
  'one long verb': (n) => `Action: ${'v'.repeat(n)} `,
  'Python lists': (n) => `pyautogui.press(${'['.repeat(n)}`,
  'Python dictionaries': (n) => "{'a':".repeat(n / 5),
  'Python names': (n) => `pyautogui.click(${'a.'.repeat(n / 2)}`,
  'Python keyword and blanks': (n) => `pyautogui.click(a${' '.repeat(n)}`,
  'Python digits': (n) => `pyautogui.click(${'1'.repeat(n)}x`,
  'Python assignments': (n) => `import time\n${'a=1\n'.repeat(n / 4)}!`,
  'Python targets': (n) => `import time\n${'a,'.repeat(n / 2)}!`,
  'Python imports': (n) => `import ${'a as b, '.repeat(n / 8)}\n!`,
  'Python texts side by side': (n) => `pyautogui.write(${"'' ".repeat(n / 3)}!`,
  'Python presses': (n) => `pyautogui.press([${"'a',".repeat(n / 4)}], presses=100)`,
  'Python typed keys': (n) => `pyautogui.write([${"'a',".repeat(n / 4)}])`,
  'Python texts that open': (n) => "\n'''x".repeat(n / 5),
  'code fences': (n) => '```WAIT'.repeat(n / 7),
  'fences around nothing': (n) => '``````'.repeat(n / 6),
  'words in brackets': (n) => `WAIT${' '.repeat(n)}(`,
  'JSON lists': (n) => `[${'{},'.repeat(n / 3)}`,
  'texts in three quotes': (n) => `Action: type(${"'''a, ".repeat(n / 6)}`,
  'any characters': (n) => '\u0000\ud800é🙂'.repeat(n / 5),
};

const screen = { width: 1920, height: 1080 };
const convention = { screen, coordinates: 'smart-resize' } as const;

function expectActionsOrReason({ actions, parseError }: { actions: Action[]; parseError: string | null }): void {
  expect(actions.length > 0).toBe(parseError === null);
  expect(actions.length).toBeLessThanOrEqual(MAX_ACTIONS);
  expect(parseError?.length ?? 0).toBeLessThan(400);
  for (const action of actions) expect(actionSchema.safeParse(action).success).toBe(true);
}

describe('a reply made to be slow', () => {
  // What looked at each character as often as there are characters would take 10^12 steps: the test would time out.
  it.each(Object.keys(SHAPES))('is read in one go: %s', (name) => {
    const text = SHAPES[name]!(1_000_000);
    expectActionsOrReason(parseReply(text, convention));
    expectActionsOrReason(parseOsworldAction(text));
  });

  it('is an error, not a crash, where objects lie inside each other', () => {
    let action: unknown = 'WAIT';
    for (let depth = 0; depth < 100_000; depth++) action = [action];
    expectActionsOrReason(parseOsworldAction(action));
  });
});

describe('any text', () => {
  const piece = fc.constantFrom(
    ...['Action:', 'Thought:', '\n', ' ', ',', '=', ':', ';', '(', ')', '[', ']', '{', '}', "'", '"', '\\', '```', '#'],
    ...[
      'click',
      'type',
      'press',
      'scroll',
      'start_box',
      'content',
      'key',
      '<|box_start|>',
      '<point>',
      '(1,2)',
      '1',
      '-',
    ],
    ...['pyautogui.', 'write', 'import pyautogui as p', 'p.', 'time.sleep', 'True', 'x', 'clicks', 'WAIT', 'python\n'],
    ...[
      'pyautogui.click(x=',
      'pyautogui.moveTo(',
      'pyautogui.moveRel(1e308, 0)',
      'pyautogui.dragTo(y=5)',
      'y=',
      '1e308',
    ],
    ...['wait(seconds=', 'pyautogui.scroll(', '9'.repeat(30), "r'", "'''", '\\x00', 'finished()'],
    ...['{"action_type": "CLICK"', '"parameters": {', '\ud800', '🙂', 'é'],
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  );

  it('gives actions or a reason, never an exception', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('absolute', 'relative', 'smart-resize'), (reply, coordinates) => {
        const parsed = parseReply(reply, { screen, coordinates });
        expectActionsOrReason(parsed);
        expectWritable(parsed.actions);
        for (const action of parsed.actions) {
          if (!('x' in action) || action.x === undefined) continue;
          expect(Number(action.x) >= 0 && Number(action.x) < screen.width).toBe(true);
          expect(Number(action.y) >= 0 && Number(action.y) < screen.height).toBe(true);
        }
        expectActionsOrReason(parseOsworldAction(reply));
      }),
      { numRuns: 3000 },
    );
  });

  it('and any value does so as a recorded action', () => {
    const value = fc.oneof(
      fc.anything(),
      fc.record({
        action_type: fc.oneof(fc.constantFrom('CLICK', 'SCROLL', 'HOTKEY'), fc.anything()),
        parameters: fc.anything(),
      }),
    );
    fc.assert(
      fc.property(value, (action) => expectActionsOrReason(parseOsworldAction(action))),
      { numRuns: 2000 },
    );
  });
});
