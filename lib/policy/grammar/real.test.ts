import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../../stream/shared.testing.ts';
import { parseReply } from './parse.ts';

/** Trajectories of a 7B agent on 1920 × 1080 desktops; it writes pixels of the 1932 × 1092 image. */
const folder = shared === null ? null : join(shared, 'real', 'dart');
const convention = { screen: { width: 1920, height: 1080 }, coordinates: 'smart-resize' } as const;

function repliesOf(name: string): string[] {
  const messages = JSON.parse(readFileSync(join(folder!, name), 'utf8')) as { role: string; content: unknown }[];
  return messages
    .filter((message) => message.role === 'assistant')
    .map(({ content }) => (Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : String(content)));
}

/** What a reader of each file sees, in screen pixels: x · 1920/1932, y · 1080/1092, rounded. */
const click = (x: number, y: number) => ({ type: 'click', x, y });
const keys = (...names: string[]) => ({ type: 'hotkey', keys: names });
const type = (text: string) => ({ type: 'type', text });
const finished = (text: string) => ({ type: 'finished', text });

const EXPECTED: Record<string, unknown[][]> = {
  '030eeff7': [
    [click(1896, 88)],
    [click(1639, 853)],
    [click(176, 277)],
    [click(760, 954)],
    [click(176, 277)],
    [click(760, 757)],
    [click(1294, 875)],
    [click(1194, 701)],
    [finished('已为你开启“请勿跟踪”功能以增强在线隐私。')],
  ],
  '57242fad': [
    [click(85, 74)],
    [click(141, 102)],
    [keys('ctrl', 's')],
    [click(466, 247)],
    [type('test.py')],
    [click(1549, 161)],
    [finished('成功创建并保存了test.py文件，现在它就在桌面上等着我们开始编写代码了。')],
  ],
  '9d425400': [
    [click(623, 149)],
    [type('wrap')],
    [keys('ctrl', 'a'), keys('ctrl', 'a'), keys('backspace')],
    [type('wrap')],
    [click(789, 694)],
    [keys('ctrl', 's')],
    [finished('已将标签页在超过可用空间时换行。')],
  ],
  e528b65e: [
    [keys('ctrl', 'a')],
    [click(287, 73)],
    [click(297, 101)],
    [click(623, 507)],
    [keys('ctrl', 's')],
    [finished('我已经把每个单词的首字母大写了，并且保存了文档。')],
  ],
  ec4e3f68: [
    [click(27, 1042)],
    [click(994, 69)],
    [type('vim')],
    [{ type: 'right_click', x: 994, y: 184 }],
    [click(1169, 214)],
    [finished('已将vim从 favorite app 中移除。')],
  ],
};

describe.skipIf(folder === null)('replies of a real agent', () => {
  it.each(Object.keys(EXPECTED))('%s reads as a person reads it', (prefix) => {
    const name = readdirSync(folder!).find((file) => file.startsWith(prefix) && file.endsWith('.json'))!;
    const parsed = repliesOf(name).map((reply) => parseReply(reply, convention));
    expect(parsed.map((reply) => reply.actions)).toEqual(EXPECTED[prefix]);
    expect(parsed.every((reply) => reply.parseError === null && (reply.thought ?? '').length > 100)).toBe(true);
  });

  it('are 35', () => expect(Object.values(EXPECTED).flat()).toHaveLength(35));
});
