import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../guest/guest.ts';
import type { ScreenConvention } from './coordinates.ts';
import { parseReply } from './parse.ts';
import { peerAction, peerReading } from './peer.testing.ts';

const screen = { width: 1920, height: 1080 };
const v10: ScreenConvention = { screen, coordinates: 'relative' };
const v15: ScreenConvention = { screen, coordinates: 'smart-resize' };

/** Half a pixel, and half of the thousandth to which the peer rounds. */
const NEAR = 0.5005;

/** Both read the reply as the same actions, ours in whole pixels; returns how many. */
function expectAgreement(reply: string, convention: ScreenConvention): number {
  const { actions, parseError } = parseReply(reply, convention);
  expect(parseError).toBeNull();
  const theirs = peerReading(reply, convention).map((each) => peerAction(each, convention));
  expect(theirs.map((action, index) => onPixels(action, actions[index]))).toEqual(actions);
  return actions.length;
}

/** The peer's action with each coordinate on our pixel, where that is the nearest. */
function onPixels(theirs: Action | null, ours: Action | undefined): unknown {
  const [exact, whole] = [{ ...theirs }, { ...ours }] as [Record<string, unknown>, Record<string, unknown>];
  for (const name of ['x', 'y', 'to_x', 'to_y']) {
    if (name in exact && Math.abs(Number(exact[name]) - Number(whole[name])) <= NEAR) exact[name] = whole[name];
  }
  return exact;
}

const BOXES = [
  '(500,250)',
  '(500, 250)',
  '[500,250]',
  '[480,230,520,270]',
  '(480,230,520,270)',
  '<|box_start|>(500,250)<|box_end|>',
  '<|box_start|>[480,230,520,270]<|box_end|>',
  '<point>500 250</point>',
  '<bbox>480 230 520 270</bbox>',
  '<bbox>500 250</bbox>',
  '(0,0)',
  '(1000,1000)',
  '(12.5,7.25)',
];
const PLACED = ['click', 'left_single', 'left_double', 'right_single', 'middle_click', 'hover'];

const REPLIES = [
  ...BOXES.map((box) => `Thought: I click.\nAction: click(start_box='${box}')`),
  ...PLACED.map((verb) => `Thought: I do so.\nAction: ${verb}(start_box='(333,667)')`),
  ...PLACED.map((verb) => `Action: ${verb}(point='<point>333 667</point>')`),
  "Action: click(start_point='(5,6)')",
  "Action: drag(start_box='(1,2)', end_box='(30,40)')",
  "Action: drag(start_box='<|box_start|>(1,2)<|box_end|>', end_box='<|box_start|>(30,40)<|box_end|>')",
  "Action: drag(start_point='<point>1 2</point>', end_point='<point>30 40</point>')",
  "Action: select(start_box='[1,2,3,4]', end_box='[30,40,50,60]')",
  ...['up', 'down', 'left', 'right'].map((way) => `Action: scroll(start_box='(10,20)', direction='${way}')`),
  "Action: scroll(direction='down')",
  "Action: scroll(point='<point>10 20</point>', direction='up')",
  ...['ctrl s', 'ctrl+s', 'ctrl shift t', 'enter', 'f5', 'alt tab', 'backspace'].map(
    (key) => `Action: hotkey(key='${key}')`,
  ),
  "Action: type(content='hello')",
  "Action: type(content='two words, three (brackets) = 1')",
  "Action: type(content='请勿跟踪')",
  "Action: type(content='a=b')",
  "Action: type(content='C:/x/y.txt')",
  'Action: wait()',
  'Action: finished()',
  "Action: finished(content='done')",
  "Action: finished(content='已完成，谢谢。')",
  'Action: call_user()',
  "Action：click(start_box='(5,6)')",
  "Thought：我点击。\nAction：click(start_box='(5,6)')",
  "Reflection: hm\nAction_Summary: I click\nAction: click(start_box='(5,6)')",
  "Thought: The Action: label is there.\nAction: click(start_box='(5,6)')",
  "click(start_box='(5,6)')",
  "Thought: twice\nAction: click(start_box='(5,6)')\n\ntype(content='x')",
  "Action: hotkey(key='ctrl a')\n\nhotkey(key='backspace')\n\ntype(content='new')",
];

describe('@ui-tars/action-parser, our peer', () => {
  it.each(REPLIES)('agrees on %j', (reply) => {
    expect(expectAgreement(reply, v10)).toBe(reply.split('\n\n').length);
    expectAgreement(reply, v15);
  });

  it('agrees on 60 replies or more', () => expect(new Set(REPLIES).size).toBeGreaterThanOrEqual(60));

  it('agrees on whatever can be said in its form', () => {
    const place = fc.record({ x: fc.integer({ min: 0, max: 1000 }), y: fc.integer({ min: 0, max: 1000 }) });
    const box = fc.oneof(
      place.map(({ x, y }) => `'(${x},${y})'`),
      place.map(({ x, y }) => `'<|box_start|>(${x},${y})<|box_end|>'`),
      place.map(({ x, y }) => `'<point>${x} ${y}</point>'`),
      fc.tuple(place, place).map(([a, b]) => `'[${a.x},${a.y},${b.x},${b.y}]'`),
    );
    const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019 _-/:()!?中é'), minLength: 1, maxLength: 20 });
    const content = word.filter((each) => each.trim() === each);
    const call = fc.oneof(
      fc.tuple(fc.constantFrom(...PLACED), box).map(([verb, at]) => `${verb}(start_box=${at})`),
      fc.tuple(box, box).map(([from, to]) => `drag(start_box=${from}, end_box=${to})`),
      fc
        .tuple(box, fc.constantFrom('up', 'down', 'left', 'right'))
        .map(([at, way]) => `scroll(start_box=${at}, direction='${way}')`),
      fc
        .subarray(['ctrl', 'shift', 'alt', 'a', 'f4', 'delete'], { minLength: 1 })
        .map((keys) => `hotkey(key='${keys.join(' ')}')`),
      content.map((text) => `type(content='${text}')`),
      content.map((text) => `finished(content='${text}')`),
      fc.constantFrom('wait()', 'finished()', 'call_user()'),
    );
    const reply = fc
      .tuple(
        fc.constantFrom('', 'Thought: I see it.\n', 'Thought: 我看到了。\n'),
        fc.array(call, { minLength: 1, maxLength: 4 }),
      )
      .map(([thought, calls]) => `${thought}Action: ${calls.join('\n\n')}`);
    // Widths and heights that are no odd multiple of 14: those two round differently (docs/actions.md).
    const size = fc.integer({ min: 400, max: 4000 }).filter((length) => length % 28 !== 14);
    fc.assert(
      fc.property(
        reply,
        size,
        size,
        fc.constantFrom('relative', 'smart-resize'),
        (text, width, height, coordinates) => {
          expectAgreement(text, { screen: { width, height }, coordinates });
        },
      ),
      { numRuns: 2000 },
    );
  });
});
