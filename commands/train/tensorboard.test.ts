import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { eventsOf, type Fields, scalarOf } from '../../lib/report/tensorboard.testing.ts';
import { loggedPoints } from '../../lib/report/tensorboard.ts';
import { greyScreen, groupLines } from './fixture.testing.ts';
import { spec } from './spec.ts';

let cwd = '';
let screenshot = '';
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-tensorboard-'));
  screenshot = greyScreen(join(cwd, 'blobs'));
  await run(['init', '-o', 'init.onnx', '--seed', '1', '--reading-steps', '2', '--quiet']);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function run(args: string[], stdin = '') {
  const io = testIo({ cwd, stdin });
  const code = await runCommand(spec, args, io);
  return { code, records: io.records(), err: io.err() };
}

const train = (folder: string, groups: number, ...more: string[]) => {
  const into = ['--publish', folder, '--policy', 'onnx:init.onnx', '--blobs', 'blobs', '--quiet'];
  return run([...into, '--preset', 'grpo', '--batch-samples', '3', ...more], groupLines(groups, screenshot));
};

describe('dart-train --tensorboard', () => {
  it('has each metric of each update whose value is known, also of a run that goes on', async () => {
    const first = await train('p', 2, '--tensorboard', 'logs/run');
    const second = await train('p', 3, '--tensorboard', 'logs/run');
    const files = readdirSync(join(cwd, 'logs/run')).sort();
    expect(files).toHaveLength(2);
    const written = files.map((name) => eventsOf(join(cwd, 'logs/run', name)));
    const wanted = (records: typeof first.records) =>
      records
        .filter((r) => r.type === 'metric' && r.value !== null)
        .map((r) => [r.name, r.update, Math.fround(r.value as number)]);
    const step = (event: Fields) => Number(event.get(2)![0]);
    for (const [i, { records }] of [first, second].entries()) {
      const [version, start, ...scalars] = written[i]!;
      expect([version!.has(3), step(start!)]).toEqual([true, [1, 3][i]]);
      expect(scalars.map(scalarOf)).toEqual(wanted(records));
      expect(scalars.length).toBeGreaterThan(15);
    }
  });

  it('has the success rates of evaluations, also of those that come before the first update', async () => {
    const evaluation = (model_version: number, success_rate: number) =>
      `${JSON.stringify({ type: 'summary', v: 1, command: 'dart-eval', model_version, success_rate })}\n`;
    const input = `${evaluation(0, 0.25)}${groupLines(1, screenshot)}${evaluation(1, 0.5)}`;
    const place = ['--publish', 'e', '--policy', 'onnx:init.onnx', '--blobs', 'blobs', '--quiet'];
    const more = ['--preset', 'grpo', '--batch-samples', '3', '--rollback-interval', '--tensorboard', 'logs/e'];
    const { records } = await run([...place, ...more], input);
    expect(records.filter((r) => r.event === 'evaluated')).toHaveLength(2);
    const [name] = readdirSync(join(cwd, 'logs/e'));
    const [version, early, start, ...later] = eventsOf(join(cwd, 'logs/e', name!));
    expect([version!.has(3), start!.has(7)]).toEqual([true, true]);
    const scalars = [early!, ...later].map(scalarOf);
    expect(scalars.filter(([tag]) => tag.startsWith('eval/'))).toEqual([
      ['eval/success_rate', 0, 0.25],
      ['eval/success_rate', 1, 0.5],
    ]);
  });

  it('has an evaluation once, however often it is read', async () => {
    const evaluation = (model_version: number, success_rate: number) =>
      `${JSON.stringify({ type: 'summary', v: 1, command: 'dart-eval', model_version, success_rate })}\n`;
    const place = ['--publish', 'o', '--policy', 'onnx:init.onnx', '--blobs', 'blobs', '--quiet'];
    const more = ['--preset', 'grpo', '--batch-samples', '3', '--rollback-interval', '--tensorboard', 'logs/o'];
    const start = `${evaluation(0, 0.3)}${groupLines(1, screenshot)}${evaluation(1, 0.5)}${evaluation(1, 0.5)}`;
    const shown = () =>
      readdirSync(join(cwd, 'logs/o'))
        .sort()
        .flatMap((name) => eventsOf(join(cwd, 'logs/o', name)))
        .filter((event) => event.has(5))
        .map(scalarOf)
        .filter(([tag]) => tag.startsWith('eval/'))
        .map(([, step, value]) => [step, value]);
    await run([...place, ...more], start);
    expect(shown()).toEqual([
      [0, Math.fround(0.3)],
      [1, 0.5],
    ]);
    const files = readdirSync(join(cwd, 'logs/o'));
    await run([...place, ...more], start);
    expect(readdirSync(join(cwd, 'logs/o'))).toEqual(files);
    await run([...place, ...more], `${start}${evaluation(1, 0.625)}`);
    expect(shown()).toEqual([
      [0, Math.fround(0.3)],
      [1, 0.5],
      [1, 0.625],
    ]);
  });

  it('has the evaluation of a version that was lost and is made again', async () => {
    const evaluation = (model_version: number, success_rate: number) =>
      `${JSON.stringify({ type: 'summary', v: 1, command: 'dart-eval', model_version, success_rate })}\n`;
    const place = ['--publish', 'l', '--policy', 'onnx:init.onnx', '--blobs', 'blobs', '--quiet'];
    const more = ['--preset', 'grpo', '--batch-samples', '3', '--rollback-interval', '--tensorboard', 'logs/l'];
    const input = `${evaluation(0, 0.5)}${groupLines(2, screenshot)}${evaluation(2, 0.25)}`;
    const shown = () => loggedPoints(join(cwd, 'logs/l'), 'eval/success_rate');
    const points = [
      { step: 0, value: 0.5 },
      { step: 2, value: 0.25 },
    ];
    await run([...place, ...more], input);
    expect(await shown()).toEqual(points);
    rmSync(join(cwd, 'l/versions/000002'), { recursive: true });
    const { records } = await run([...place, ...more], input);
    expect(records.at(-1)).toMatchObject({ version: 2, updates: 2 });
    expect(await shown()).toEqual(points);
  });

  it('has the evaluations of a run that makes no update, and takes nothing back for them', async () => {
    await train('n', 2, '--tensorboard', 'logs/n');
    const summary = { type: 'summary', v: 1, command: 'dart-eval', model_version: 1, success_rate: 0.375 };
    writeFileSync(join(cwd, 'evaluations.ndjson'), `${JSON.stringify(summary)}\n`);
    const before = readdirSync(join(cwd, 'logs/n'));
    const stdin = new PassThrough();
    const place = ['--publish', 'n', '--blobs', 'blobs', '--quiet', '--preset', 'grpo', '--batch-samples', '3'];
    const io = testIo({ cwd, stdin });
    const more = ['--evaluations', 'evaluations.ndjson', '--tensorboard', 'logs/n'];
    const ended = runCommand(spec, [...place, ...more], io);
    await vi.waitFor(() => expect(io.records().some((r) => r.event === 'evaluated')).toBe(true), { timeout: 60_000 });
    stdin.end();
    expect(await ended).toBe(0);
    const [name, ...others] = readdirSync(join(cwd, 'logs/n')).filter((file) => !before.includes(file));
    const [version, ...events] = eventsOf(join(cwd, 'logs/n', name!));
    expect([others, version!.has(3), events.map(scalarOf)]).toEqual([[], true, [['eval/success_rate', 1, 0.375]]]);
  });

  it('is refused before anything is written where there can be no such folder', async () => {
    writeFileSync(join(cwd, 'file'), '');
    const { code, err } = await train('q', 1, '--tensorboard', 'file/logs');
    expect([code, err]).toEqual([2, expect.stringContaining('there is a file of that name')]);
  });

  it('goes on training when the files cannot be written', async () => {
    const { code, err, records } = await train('r', 2, '--tensorboard', '/proc/self/fd');
    expect([code, records.at(-1)?.updates]).toEqual([0, 2]);
    expect(err.match(/--tensorboard: nothing more is written: /g)).toHaveLength(1);
  });
});
