import { describe, expect, it } from 'vitest';
import { parseReply } from '../../policy/grammar/index.ts';
import { instructionOf, isMessages, turnsOf } from './dart_messages.ts';
import { renderedReply, timeOfStamp } from './osworld_lines.ts';
import { pngSize } from './png.ts';

/** The smallest PNG: 1x1, grey. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
);

describe('pngSize', () => {
  it('reads the size of a whole PNG and says what is wrong with others', () => {
    expect(pngSize(PNG)).toEqual({ width: 1, height: 1 });
    expect(pngSize(PNG.subarray(0, 40))).toBe('it is cut short');
    expect(pngSize(Buffer.from('JFIF'.repeat(20)))).toBe('it is not a PNG');
    expect(pngSize(Buffer.alloc(0))).toBe('it is not a PNG');
    const empty = Buffer.from(PNG);
    empty.writeUInt32BE(0, 16);
    expect(pngSize(empty)).toBe('it has no size');
  });
});

describe('timeOfStamp', () => {
  it.each([
    ['20250925@101112', '2025-09-25T10:11:12.000Z'],
    ['20250925@101112345678', '2025-09-25T10:11:12.345Z'],
    ['20251325@101112', null],
    ['yesterday', null],
    [undefined, null],
  ])('%s is %s', (stamp, time) => expect(timeOfStamp(stamp)).toBe(time));
});

describe('renderedReply', () => {
  it('reads back as the actions, without the pauses between them', () => {
    const actions = [
      { type: 'click' as const, x: 3, y: 4 },
      { type: 'wait' as const, ms: 500 },
      { type: 'type' as const, text: "it's\nthat" },
    ];
    const text = renderedReply(actions);
    expect(text).toBe("Action: click(start_box='(3,4)')\ntype(content='it\\'s\\nthat')");
    const convention = { screen: { width: 100, height: 100 }, coordinates: 'absolute' as const };
    expect(parseReply(text, convention).actions).toEqual([actions[0], actions[2]]);
    expect(renderedReply([{ type: 'wait' }])).toBe('Action: wait()');
    expect(renderedReply([])).toBe('');
  });
});

describe('DART’s messages', () => {
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Rules.\n## User Instruction\nGo\n' },
        { type: 'image', image: 'a.png' },
      ],
    },
    { role: 'assistant', content: 'one' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'tw' },
        { type: 'text', text: 'o' },
      ],
    },
    { role: 'user', content: [{ type: 'image_url' }] },
  ];

  it('become what was shown and what was answered', () => {
    expect(isMessages(messages)).toBe(true);
    expect(turnsOf(messages)).toEqual([
      { kind: 'text', text: 'Rules.\n## User Instruction\nGo\n' },
      { kind: 'image', source: { file: 'a.png' } },
      { kind: 'reply', text: 'one' },
      { kind: 'image', source: { png: Buffer.from([0, 1, 2]) } },
      { kind: 'reply', text: 'two' },
      { kind: 'image', source: { refused: 'the message names no image' } },
    ]);
    expect(instructionOf(turnsOf(messages))).toBe('Go');
    expect(instructionOf([{ kind: 'text', text: 'nothing of the kind' }])).toBeNull();
  });

  it.each([[{}], [[]], [[{ role: 'user', content: 'x' }]], [[1]], [null]])('are not %j', (json) =>
    expect(isMessages(json)).toBe(false),
  );
});
