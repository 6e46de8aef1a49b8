import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { greyScreen, lines, makeGroup, scoredLines } from './fixture.testing.ts';
import { missingOf } from './kept.ts';
import { spec } from './spec.ts';

let cwd = '';
let screenshot = '';
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-output-'));
  const io = testIo({ cwd });
  expect(
    await runCommand(spec, ['init', '-o', 'init.onnx', '--seed', '1', '--reading-steps', '2', '--quiet'], io),
  ).toBe(0);
  screenshot = greyScreen(join(cwd, 'blobs'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

let serial = 0;
let dir = '';
let file = '';
beforeEach(() => {
  serial += 1;
  dir = `policy${serial}`;
  file = `${dir}.ndjson`;
});

/** One update a group. */
async function train(stdin: string, ...more: string[]) {
  const io = testIo({ cwd, stdin });
  const into = ['--publish', dir, '--policy', 'onnx:init.onnx', '--blobs', 'blobs', '--preset', 'grpo'];
  const code = await runCommand(spec, [...into, '--batch-groups', '1', '--quiet', ...more], io);
  return { code, err: io.err() };
}

const samples = (groups: number) => scoredLines(groups, screenshot);
const written = (name = file): AnyRecord[] =>
  readFileSync(join(cwd, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const put = (records: readonly AnyRecord[], name = file) => writeFileSync(join(cwd, name), lines(records));
/** `loss 1`, `checkpoint 1`, `summary 1`, or the event's name. */
const told = () =>
  written()
    .filter((r) => r.type !== 'metric' || r.name === 'train/loss')
    .map((r) => (r.type === 'event' ? r.event : `${r.type === 'metric' ? 'loss' : r.type} ${r.update ?? r.version}`));

describe('dart-train -o of a run that goes on', () => {
  it('keeps what made a guard stop it, however often it stops there, until the update is made again', async () => {
    const rule = ['--stop-if', 'tokens>0 for 3', '-o', file];
    await train(samples(9), ...rule);
    const first = ['checkpoint 0', 'loss 1', 'checkpoint 1', 'loss 2', 'checkpoint 2', 'loss 3', 'stopped_by_guard'];
    expect(told()).toEqual([...first, 'summary 2']);
    const tokens = written().filter((r) => r.name === 'train/tokens' && r.update === 3);
    for (const times of [2, 3]) {
      expect(await train(samples(9), ...rule)).toMatchObject({ code: 1 });
      expect(told()).toEqual([...first, ...new Array(times).fill('summary 2')]);
      expect(written().filter((r) => r.name === 'train/tokens' && r.update === 3)).toEqual(tokens);
    }
    expect(await train(samples(4), '-o', file)).toMatchObject({ code: 0, err: '' });
    expect(told()).toEqual([
      ...first.filter((line) => line !== 'loss 3'),
      ...['summary 2', 'summary 2', 'summary 2', 'loss 3', 'checkpoint 3', 'loss 4', 'checkpoint 4', 'summary 4'],
    ]);
  });

  it('keeps what a killed process had told of an update that does not come again', async () => {
    await train(samples(1), '-o', file);
    put([...written(), { type: 'metric', v: 1, name: 'train/loss', value: 9, update: 2 }]);
    await train(samples(1), '-o', file);
    const begun = ['checkpoint 0', 'loss 1', 'checkpoint 1', 'summary 1'];
    expect(told()).toEqual([...begun, 'loss 2', 'summary 1']);
    await train(samples(2), '-o', file);
    expect(told()).toEqual([...begun, 'summary 1', 'loss 2', 'checkpoint 2', 'summary 2']);
    expect(written().filter((r) => r.value === 9)).toEqual([]);
  });

  it('warns where the file is another one, or has holes', async () => {
    const warning = (name: string, what: string, version: number) =>
      `dart-train: warning: ${name} lacks what this run reported of ${what}; it goes on from version ${version}. Try: >> ${name} in place of -o\n`;
    await train(samples(3), '-o', file);
    const all = written();
    expect(await train(samples(4), '-o', 'new.ndjson')).toEqual({
      code: 0,
      err: warning('new.ndjson', 'updates 1-3', 3),
    });
    expect(written('new.ndjson').map((r) => r.update ?? 4)).not.toContain(3);
    expect((await train(samples(5), '-o', 'new.ndjson')).err).toBe(warning('new.ndjson', 'updates 1-3', 4));
    put(all.filter((r) => r.update !== 2));
    expect((await train(samples(5), '-o', file)).err).toBe(warning(file, 'updates 2, 4-5', 5));
    put([]);
    expect((await train(samples(5), '-o', file)).err).toBe(warning(file, 'updates 1-5', 5));
    put(all.filter((r) => r.update !== 2));
    put([...written(), ...[2, 4, 5].map((update) => ({ type: 'metric', v: 1, name: 'train/loss', value: 1, update }))]);
    expect((await train(samples(5), '-o', file)).err).toBe('');
  });

  it('has each record that is passed on and each evaluation once, though the input is read again', async () => {
    const summary = { type: 'summary', v: 1, command: 'dart-curate', groups: 7 };
    const rejected = { type: 'event', v: 1, event: 'group_rejected', group_id: 'x', reason: 'stale' };
    const score = (model_version: number, success_rate: number) => ({
      ...{ type: 'summary', v: 1, command: 'dart-eval', model_version, success_rate },
    });
    const begin = [score(0, 0.25), rejected, ...makeGroup('g0', screenshot), rejected, score(1, 0.5), summary];
    const args = ['--rollback-interval', '-o', file];
    await train(lines(begin), ...args);
    const others = () =>
      written()
        .filter((r) => r.command !== 'dart-train' && r.type !== 'metric' && r.type !== 'checkpoint')
        .map((r) => r.event ?? r.command);
    const first = ['evaluated', 'group_rejected', 'group_rejected', 'evaluated', 'dart-curate'];
    expect(others()).toEqual(first);
    await train(lines([...begin, ...makeGroup('g1', screenshot)]), ...args);
    expect(others()).toEqual(first);
    // What is new is added, also where it says what another record said.
    await train(lines([...begin, rejected, score(2, 0.5), { ...summary, groups: 8 }]), ...args);
    expect(others()).toEqual([...first, 'group_rejected', 'evaluated', 'dart-curate']);
    expect(written().filter((r) => r.event === 'evaluated')).toMatchObject([
      { version: 0, score: 0.25, best_version: 0 },
      { version: 1, score: 0.5, best_version: 1 },
      { version: 2, score: 0.5, best_version: 1 },
    ]);
  });

  it('is refused, and leaves the file alone, where the records of another run are in it too', async () => {
    await train(samples(1), '-o', file, '--run-id', 'mine');
    const other = { type: 'checkpoint', v: 1, version: 11, path: 'x', run_id: 'theirs' };
    put([...written(), other, { type: 'metric', v: 1, name: 'train/loss', value: 1, update: 11 }]);
    const before = written();
    expect(await train(samples(2), '-o', file, '--run-id', 'mine')).toEqual({
      code: 2,
      err: `dart-train: ${file}: the file holds the records of run 'theirs' besides those of 'mine', which goes on. Try: another file, with the records of this run only\n`,
    });
    expect(written()).toEqual(before);
  });
});

it('numbers that are missing are told as ranges', () => {
  expect(missingOf(new Set([1, 2, 3]), 3)).toBe('');
  expect(missingOf(new Set(), 0)).toBe('');
  expect(missingOf(new Set([2, 4, 9]), 8)).toBe('1, 3, 5-8');
});
