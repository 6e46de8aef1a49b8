import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventsOf, fieldsOf, scalarOf, textOf } from './tensorboard.testing.ts';
import { crc32c, EventFile, loggedPoints } from './tensorboard.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tensorboard-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('crc32c', () => {
  // RFC 3720, appendix B.4, and the check value of the CRC catalogues.
  it.each([
    ['32 zeros', new Uint8Array(32), 0x8a9136aa],
    ['32 ones', new Uint8Array(32).fill(255), 0x62a8ab43],
    ['0 to 31', Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
    ['31 to 0', Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
    ['123456789', new TextEncoder().encode('123456789'), 0xe3069283],
  ])('of %s', (_name, data, wanted) => {
    expect(crc32c(data)).toBe(wanted);
  });
});

describe('EventFile', () => {
  it('holds its version, where it begins, and one scalar an event', async () => {
    const file = await EventFile.open(join(dir, 'new/folder'), 1_700_000_000_500);
    await file.begin(5);
    await file.scalar('train/loss', 5, -0.25, 1_700_000_001_000);
    await file.scalar('train/loss', 2 ** 40, 1e-7);
    await file.close();
    expect(basename(file.path)).toMatch(/^events\.out\.tfevents\.1700000000\.500\.\d+\.dart-train$/);
    const [version, start, first, second, ...rest] = eventsOf(file.path);
    expect(rest).toEqual([]);
    expect([version!.get(1), textOf(version!.get(3)![0])]).toEqual([[1_700_000_000.5], 'brain.Event:2']);
    expect([Number(start!.get(2)![0]), fieldsOf(start!.get(7)![0] as Buffer).get(1)]).toEqual([5, [1n]]);
    expect([first!.get(1), scalarOf(first!)]).toEqual([[1_700_000_001], ['train/loss', 5, -0.25]]);
    expect(scalarOf(second!)).toEqual(['train/loss', 2 ** 40, Math.fround(1e-7)]);
  });

  it('is on the disk before the next number comes', async () => {
    const file = await EventFile.open(dir);
    await file.scalar('a', 3, 0);
    expect(scalarOf(eventsOf(file.path)[1]!)).toEqual(['a', 3, 0]);
    await file.close();
  });

  it('says where it cannot be', async () => {
    await expect(EventFile.open('/proc/none')).rejects.toThrow('cannot make the folder');
  });

  it('comes after the files of earlier runs in the order of names', async () => {
    for (const now of [999_999_999_000, 1_000_000_000_000]) await (await EventFile.open(dir, now)).close();
    expect(
      readdirSync(dir)
        .sort()
        .map((name) => name.split('.')[3]),
    ).toEqual(['0999999999', '1000000000']);
  });
});

/** A second reader, where this machine happens to have it. */
const program = process.env.DART_PYTHON || 'python3';
const READ = `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1]); events.Reload()
print(json.dumps({tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
`;
if (spawnSync(program, ['-c', 'import tensorboard']).status === 0) {
  describe('TensorBoard', () => {
    it('shows the numbers of a run that was killed and went on two updates before', async () => {
      const first = await EventFile.open(dir, 1_700_000_000_000);
      await first.begin(1);
      for (const step of [1, 2, 3, 4]) await first.scalar('train/loss', step, step);
      const second = await EventFile.open(dir, 1_700_000_100_000);
      await second.scalar('eval/success_rate', 1, 0.5);
      await second.begin(3);
      for (const step of [3, 4, 5]) await second.scalar('train/loss', step, 10 * (step - 4));
      const { stdout, stderr } = spawnSync(program, ['-c', READ, dir], { encoding: 'utf8' });
      expect(JSON.parse(stdout || stderr)).toEqual({
        'eval/success_rate': [[1, 0.5]],
        'train/loss': [
          [1, 1],
          [2, 2],
          [3, -10],
          [4, 0],
          [5, 10],
        ],
      });
    });
  });
}

describe('loggedPoints', () => {
  it('are those of a tag in all files that are still shown, until a file is torn', async () => {
    expect(await loggedPoints(join(dir, 'none'), 'a')).toEqual([]);
    const [first, second, third] = await Promise.all([1, 2, 3].map((at) => EventFile.open(dir, at * 1000)));
    for (const step of [0, 3, 4]) await first!.scalar('a', step, step / 10);
    await first!.scalar('b', 1, 0.5);
    await second!.begin(4);
    await second!.scalar('a', 2, 0.75);
    await second!.scalar('a', 6, 0);
    await third!.scalar('a', 7, 1);
    await third!.scalar('a', 8, 1);
    for (const file of [first, second, third]) await file!.close();
    const bytes = readFileSync(third!.path);
    writeFileSync(third!.path, bytes.subarray(0, -5));
    writeFileSync(join(dir, 'events.out.tfevents.9'), 'these are words, not events at all');
    expect(await loggedPoints(dir, 'a')).toEqual([
      { step: 0, value: 0 },
      { step: 3, value: Math.fround(0.3) },
      { step: 2, value: 0.75 },
      { step: 6, value: 0 },
      { step: 7, value: 1 },
    ]);
  });
});
