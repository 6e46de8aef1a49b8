import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trajectory } from '../../lib/store/trajectories.testing.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { Trajectory } from '../../lib/stream/records.ts';
import { curateIn, grey, lines } from './curate.testing.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-import-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const importLines = (text: string, ...more: string[]) => {
  writeFileSync(join(cwd, 'in.ndjson'), text, text.startsWith('\x1f') ? 'latin1' : 'utf8');
  return curateIn(cwd, ['import', '--from', 'jsonl', 'in.ndjson', ...more]);
};
const simple = (screenshot: string, fields: object = {}) => ({
  task_id: 'a',
  instruction: 'do it',
  reward: 1,
  steps: [{ response: "Action: click(start_box='(3,4)')", screenshot }],
  ...fields,
});

describe('dart-curate import --from jsonl', () => {
  it('takes the simple form, with pictures by path or by sha256', async () => {
    writeFileSync(join(cwd, 'a.png'), grey(1));
    const sha256 = await new BlobStore(join(cwd, 'blobs')).put(grey(1));
    const { code, of } = await importLines(lines([simple('a.png'), simple(sha256)]), '--blobs', 'blobs');
    expect(code).toBe(0);
    const [a, b] = of('trajectory') as unknown as Trajectory[];
    expect(a).toMatchObject({ task_id: 'a', reward: 1, outcome: 'success', instruction: 'do it' });
    expect(a!.steps[0]).toMatchObject({
      actions: [{ type: 'click', x: 3, y: 4 }],
      observation: { screenshot: { sha256, width: 32, height: 24 } },
    });
    expect(b).toEqual(a);
  });

  it('says where the blob store lacks a picture', async () => {
    const { code, of } = await importLines(lines([simple('0'.repeat(64))]), '--blobs', 'blobs');
    expect(of('event')[0]).toMatchObject({
      event: 'screenshot_missing',
      where: expect.stringMatching(/in\.ndjson:1$/),
      reason: 'the blob store has no such picture',
    });
    expect(code).toBe(1);
  });

  it('lets our own trajectories and other records pass as they are', async () => {
    const records = [
      { ...trajectory({ id: 'x', reward: 1 }), mine: 7 },
      { type: 'note', text: 'hello' },
    ];
    const { code, stdout } = await importLines(lines(records));
    expect(code).toBe(0);
    expect(stdout.startsWith(lines(records))).toBe(true);
    const checked = await importLines(lines(records), '--blobs', 'blobs');
    expect(checked.of('event')[0]).toMatchObject({
      event: 'episode_left_out',
      reason: 'missing_screenshot',
      trajectory_id: 'x',
    });
  });

  it.each([
    [lines([simple('a.png', { reward: 3 })]), 'in.ndjson:1: not a trajectory in the simple form: reward: Too big'],
    [lines([simple('a.png', { steps: [] })]), 'in.ndjson:1: not a trajectory in the simple form: steps: Too small'],
    [lines([{ ...trajectory({ id: 'x' }), v: 9 }]), 'in.ndjson:1: the record has schema version 9'],
    [lines([{ ...trajectory({ id: 'x' }), reward: 3 }]), 'in.ndjson:1: not a valid trajectory: reward: Too big'],
    [
      lines([{ ...trajectory({ id: 'x' }), reward: null }]),
      'in.ndjson:1: trajectory x has the outcome "failure" but no reward. Try: a reward from 0 to 1',
    ],
    [
      lines([trajectory({ id: 'x', outcome: 'env_error', reward: 0 })]),
      'in.ndjson:1: trajectory x has the reward 0 although it ended in env_error',
    ],
    ['{"task_id":\n{}\n', 'in.ndjson:1: not JSON'],
    ['[1]\n', 'in.ndjson:1: expected a JSON object'],
    ['\x1f\x8b\x08\n', 'in.ndjson: it is compressed (gzip). Try: zcat in.ndjson > UNPACKED'],
    [`"${'x'.repeat(65 * 1024 * 1024)}"\n`, 'in.ndjson:1: the line is longer than 67108864 bytes'],
  ])('refuses what is wrong, by file and line (%#)', async (text, message) => {
    const { code, stderr } = await importLines(text);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('goes on without a last line that is cut short', async () => {
    const whole = lines([trajectory({ id: 'x', reward: 1 })]);
    const { code, of } = await importLines(`${whole}{"type":"traj`);
    expect([code, of('event')]).toEqual([
      0,
      [expect.objectContaining({ event: 'line_cut_short', where: expect.stringMatching(/in\.ndjson:2$/) })],
    ]);
  });
});
