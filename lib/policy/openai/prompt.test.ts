import fc from 'fast-check';
import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../guest/guest.ts';
import { parseReply } from '../grammar/index.ts';
import { chatMl } from './generate.ts';
import { type Message, promptOf, systemText } from './prompt.ts';
import { readPrompt } from './read_prompt.ts';

/** A tiny screen of its own for each shade. */
function shade(value: number): Frame {
  const rgb = new Uint8Array(2 * 1 * 3).fill(value);
  const png = encode({ width: 2, height: 1, data: rgb, channels: 3, depth: 8 });
  return { width: 2, height: 1, rgb: () => rgb, png: () => png };
}

/** `S3` for the screen of that shade, `R1` for that reply. */
function layout(messages: readonly Message[]): string {
  const said = messages.slice(2).map(({ role, content }) => {
    if (role === 'assistant') return content;
    return `S${
      readPrompt([
        { role: 'user', content: 'x' },
        { role, content },
      ]).frames[0]!.rgb()[0]
    }`;
  });
  return said.join(' ');
}

const request = (replies: number, screens: number) => ({
  instruction: 'turn on dark pages',
  history: Array.from({ length: replies }, (_, i) => `R${i}`),
  // The screen that reply i answered has shade i, the present one comes last.
  frames: Array.from({ length: screens }, (_, i) => shade(replies + 1 - screens + i)),
});

describe('the prompt', () => {
  it('keeps each screen before the reply that it got, and the present one last', () => {
    expect(layout(promptOf(request(0, 1), 'absolute'))).toBe('S0');
    expect(layout(promptOf(request(2, 3), 'absolute'))).toBe('S0 R0 S1 R1 S2');
    expect(layout(promptOf(request(7, 5), 'absolute'))).toBe('R0 R1 R2 S3 R3 S4 R4 S5 R5 S6 R6 S7');
    expect(layout(promptOf(request(2, 1), 'absolute'))).toBe('R0 R1 S2');
  });

  it('holds at most five screens and 35 replies, the newest, and always the system text and the instruction', () => {
    const long = request(40, 9);
    const messages = promptOf(long, 'absolute');
    const said = layout(messages).split(' ');
    expect(said.filter((word) => word.startsWith('R'))).toEqual(long.history.slice(5));
    expect(said.filter((word) => word.startsWith('S'))).toEqual(['S36', 'S37', 'S38', 'S39', 'S40']);
    expect(said.slice(-5)).toEqual(['S38', 'R38', 'S39', 'R39', 'S40']);
    expect(messages[0]).toEqual({ role: 'system', content: systemText('absolute') });
    expect(messages[1]).toEqual({ role: 'user', content: [{ type: 'text', text: 'Task: turn on dark pages' }] });
  });

  it('drops a screen whose reply is not there', () => {
    // An odd caller: three screens, but only the last reply is known.
    const odd = { instruction: 'i', history: ['R8'], frames: [shade(7), shade(8), shade(9)] };
    expect(layout(promptOf(odd, 'absolute'))).toBe('S8 R8 S9');
  });

  it('names only actions that are read back, in each of the three ways to write places', () => {
    const lines = systemText('relative')
      .split('\n')
      .filter((line) => /^[a-z_]+\(/.test(line));
    expect(lines).toHaveLength(10);
    for (const line of lines) {
      const call = line.replace(/ - .*/, '').replaceAll('(x,y)', '(3,4)');
      const read = parseReply(`Action: ${call}`, { screen: { width: 100, height: 100 }, coordinates: 'absolute' });
      expect([call, read.parseError]).toEqual([call, null]);
    }
    const texts = (['absolute', 'relative', 'smart-resize'] as const).map(systemText);
    expect(new Set(texts).size).toBe(3);
  });

  it('is read back as the request that it was made from', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(
        text,
        fc.array(text, { maxLength: 35 }),
        fc.integer({ min: 1, max: 5 }),
        (instruction, history, n) => {
          const frames = Array.from({ length: Math.min(n, history.length + 1) }, (_, i) => shade(i));
          const read = readPrompt(JSON.parse(JSON.stringify(promptOf({ instruction, history, frames }, 'absolute'))));
          expect([read.instruction, read.history]).toEqual([instruction, history]);
          expect(read.frames.map((frame) => [...frame.rgb()])).toEqual(frames.map((frame) => [...frame.rgb()]));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('in ChatML has a mark where each picture stands, and leaves the assistant to speak', () => {
    const text = chatMl(promptOf(request(1, 2), 'absolute'));
    const picture = '<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|><|im_end|>\n';
    expect(text.slice(text.indexOf('<|im_start|>user'))).toBe(
      `<|im_start|>user\nTask: turn on dark pages<|im_end|>\n${picture}<|im_start|>assistant\nR0<|im_end|>\n${picture}<|im_start|>assistant\n`,
    );
  });
});

describe('a conversation of somebody else', () => {
  const image = {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${Buffer.from(shade(1).png()).toString('base64')}` },
  };

  it('is read by its first text, all its pictures and the assistant’s messages', () => {
    const read = readPrompt([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [{ type: 'text', text: 'open the mail' }, image] },
      { role: 'assistant', content: 'Action: wait()' },
      { role: 'user', content: [image] },
    ]);
    expect([read.instruction, read.history, read.frames.length]).toEqual(['open the mail', ['Action: wait()'], 2]);
  });

  it.each([
    ['no message of the user', [{ role: 'system', content: 'x' }]],
    ['no screenshot', [{ role: 'user', content: 'x' }]],
    [
      'no PNG in a data URI',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'image_url', image_url: { url: 'http://h/a.png' } },
          ],
        },
      ],
    ],
    [
      'an image is no PNG',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'image_url', image_url: 'data:image/png;base64,AAAA' },
          ],
        },
      ],
    ],
  ])('is refused where there is %s', (message, messages) => {
    expect(() => readPrompt(messages)).toThrow(message);
  });
});
