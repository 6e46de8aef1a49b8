import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { listVersions } from '../../lib/training/versions.ts';
import { spec as evalSpec } from '../eval/spec.ts';
import { greyScreen, lines, makeGroup, scoredLines } from './fixture.testing.ts';
import { spec } from './spec.ts';

const BASE = join(packageRoot(), 'fixtures/policies/base.onnx');
const TASKS = join(packageRoot(), 'fixtures/tasks/embedded');

let cwd = '';
let screenshot = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-guards-'));
  screenshot = greyScreen(join(cwd, 'blobs'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

let serial = 0;
let dir = '';
beforeEach(() => {
  serial += 1;
  dir = `policy${serial}`;
});

function start(args: string[], stdin: string | Readable = '') {
  const io = testIo({ cwd, stdin });
  const into = ['--publish', dir, '--policy', `onnx:${BASE}`, '--blobs', 'blobs', '--preset', 'grpo', '--quiet'];
  const ended = runCommand(spec, [...into, '--batch-samples', '3', ...args], io);
  return { io, ended };
}

async function train(args: string[], stdin: string | Readable = '') {
  const { io, ended } = start(args, stdin);
  const code = await ended;
  return { code, records: io.records(), err: io.err(), summary: io.records().at(-1) };
}

const versions = () => listVersions(join(cwd, dir));
const samples = (groups: number) => scoredLines(groups, screenshot);

describe('dart-train --stop-if', () => {
  it('exits 1, and publishes everything but the update that broke the rule', async () => {
    const { code, summary, records, err } = await train(['--stop-if', 'train/tokens > 0 for 3'], samples(5));
    expect([code, summary?.stopped, versions()]).toEqual([1, 'stop-if tokens>0 for 3', [0, 1, 2]]);
    expect(summary).toMatchObject({ version: 2, last_good_version: 0 });
    expect(records.filter((r) => r.event === 'stopped_by_guard')).toMatchObject([{ since: 1, update: 3 }]);
    expect(err).toMatch(
      /stopped by --stop-if tokens>0 for 3: \d+ at update 3, which is not published; version 0 is the/,
    );
  });

  it('lets the group of that update come again when the command is started again', async () => {
    await train(['--stop-if', 'tokens>0 for 2'], samples(3));
    const { code, summary } = await train([], samples(3));
    expect([code, summary?.version, summary?.groups]).toEqual([0, 3, 3]);
  });

  it('stops at once, at the same place, however often the same command is started again', async () => {
    const rule = ['--stop-if', 'tokens>0 for 3'];
    const first = await train(rule, samples(9));
    const state = () => JSON.parse(readFileSync(join(cwd, dir, 'versions/000002/state.json'), 'utf8'));
    expect(state().guards).toEqual({ 'tokens>0': { since: 1, updates: 2 } });
    const [stop] = first.records.filter((r) => r.event === 'stopped_by_guard');
    expect(stop).toMatchObject({ since: 1, update: 3, last_good_version: 0, newest_version: 2 });
    for (const _ of [1, 2]) {
      const again = await train(rule, samples(9));
      expect([again.code, again.records[0], again.records.length]).toEqual([1, stop, 2]);
      const counts = { version: 2, updates: 2, samples: 6, groups: 2, rollbacks: 0 };
      for (const { summary } of [first, again])
        expect(summary).toMatchObject({ ...counts, last_good_version: 0, stopped: 'stop-if tokens>0 for 3' });
      expect(again.summary?.tokens).toBe(first.summary?.tokens);
      expect(again.err).toContain('version 2 the newest. Try: another rule, or none, to go on');
      expect(versions()).toEqual([0, 1, 2]);
    }
    // With another rule it goes on, and counts on: update 3 is the third in a row.
    const other = await train(['--stop-if', 'tokens>0 for 4'], samples(9));
    expect(other.summary).toMatchObject({ version: 3, last_good_version: 0 });
    expect(other.records.filter((r) => r.event === 'stopped_by_guard')).toMatchObject([{ since: 1, update: 4 }]);
    // It has come further since: the first rule no longer ends it at once.
    const free = await train([], samples(5));
    expect([free.code, free.summary?.version]).toEqual([0, 5]);
    expect((await train(rule, samples(5))).code).toBe(0);
  });

  it('counts on after a restart, also from a version that was made without a rule', async () => {
    const rule = ['--stop-if', 'tokens>0 for 3'];
    await train(['--max-updates', '1'], samples(1));
    await train([...rule, '--max-updates', '2'], samples(2));
    await train([...rule, '--max-updates', '3'], samples(3));
    expect(versions()).toEqual([0, 1, 2, 3]);
    const { code, records, summary } = await train(rule, samples(4));
    expect([code, summary?.version, summary?.last_good_version]).toEqual([1, 3, 1]);
    expect(records.filter((r) => r.event === 'stopped_by_guard')).toMatchObject([{ since: 2, update: 4 }]);
  });

  it('leaves a run alone that breaks no rule, and warns of a metric that does not come', async () => {
    const { code, err, summary } = await train(['--stop-if', 'entropy<0', '--stop-if', 'ref_kl>1'], samples(1));
    expect([code, summary?.stopped]).toEqual([0, 'end-of-input']);
    expect(err).toBe('dart-train: warning: --stop-if ref_kl>1: this run does not report the metric\n');
  });

  it('warns of a metric that cannot move, in a dry run too, and names those of the objective', async () => {
    const warning =
      'dart-train: warning: --stop-if approx_kl>0.2: the metric is 0 in every update with one minibatch and one epoch, so the rule never holds. Try: rollout_kl, or --minibatches 2\n';
    const rule = ['--stop-if', 'approx_kl>0.2'];
    expect((await train([...rule, '--max-updates', '0'])).err).toBe(warning);
    expect((await train([...rule, '--dry-run'])).err).toBe(warning);
    expect((await train([...rule, '--dry-run', '--minibatches', '2'])).err).toBe('');
    const sft = (text: string) => train(['--objective', 'sft', '--dry-run', '--stop-if', text]);
    expect((await sft('rollout_kl>1')).err).toContain('--stop-if rollout_kl>1: this run does not report the metric');
    expect((await sft('gradnorm>1')).err).toContain("there is no metric 'gradnorm'. Try: grad_norm, ");
    expect((await sft('kl>1')).err).toContain('this run does not report the metric');
    expect((await sft('rewards>1')).err).not.toContain('rewards_');
    expect((await sft('loss')).err).toContain("'loss' is no rule. Try: --stop-if 'grad_norm>50 for 3'");
  });

  it('says where a rule that is none came from', async () => {
    const io = testIo({ cwd, env: { DART_STOP_IF: 'entropy' } });
    expect(await runCommand(spec, ['--publish', dir, '--policy', `onnx:${BASE}`], io)).toBe(2);
    expect(io.err()).toMatch(/^dart-train: DART_STOP_IF: 'entropy' is no rule\. Try: --stop-if /);
  });

  it.each([
    ['aprox_kl>1', "there is no metric 'aprox_kl'. Try: approx_kl, "],
    ['train/reward>1', "there is no metric 'reward'. Try: reward_mean, "],
    ['entropy<', "'entropy<' is no rule. Try: --stop-if 'rollout_kl>0.5 for 3'"],
    ['entropy<low', "'entropy<low' is no rule"],
    ['entropy<1 for 0', "'entropy<1 for 0' is no rule"],
    ['entropy', "'entropy' is no rule"],
    ['entropy<1 for 9007199254740993', 'is no rule'],
  ])('refuses %s before anything is written', async (rule, message) => {
    const { code, err } = await train(['--stop-if', rule]);
    expect([code, err, versions()]).toEqual([2, expect.stringContaining(message), []]);
  });
});

describe('dart-train --rollback-drop', () => {
  /** What the loop of docs/training.md does once: measures the newest version and appends the result. */
  async function evaluate(file: string): Promise<Record<string, unknown>> {
    const io = testIo({ cwd });
    const what = ['--tasks', TASKS, '--domain', 'vlc', '--repeats', '1', '--env', 'embedded:2'];
    expect([
      await runCommand(evalSpec, [...what, '--policy', `onnx:${join(cwd, dir)}`, '--quiet'], io),
      io.err(),
    ]).toEqual([0, '']);
    appendFileSync(join(cwd, file), io.out());
    return io.records().at(-1)!;
  }

  it('goes back, while it goes on reading, to the version that dart-eval found best', async () => {
    const stdin = new PassThrough();
    const file = `${dir}-evaluations.ndjson`;
    const { io, ended } = start(['--evaluations', file, '--rollback-drop', '0.2', '--lr', '1'], stdin);
    const until = (test: (record: Record<string, unknown>) => boolean) =>
      vi.waitFor(() => expect(io.records().some(test), io.err()).toBe(true), { timeout: 60_000 });
    await until((r) => r.type === 'checkpoint' && r.version === 0);
    const before = await evaluate(file);
    await until((r) => r.event === 'evaluated' && r.version === 0);
    stdin.write(lines(makeGroup('a', screenshot)));
    await until((r) => r.type === 'checkpoint' && r.version === 1);
    const after = await evaluate(file);
    expect([before.model_version, before.success_rate, after.model_version]).toEqual([0, 0.5, 1]);
    expect(after.success_rate).toBeLessThan(0.3);
    await until((r) => r.type === 'checkpoint' && r.version === 2);
    stdin.end(lines(makeGroup('b', screenshot)));
    expect(await ended).toBe(0);
    const weights = (version: number) => readFileSync(join(cwd, dir, `versions/00000${version}/weights.safetensors`));
    const tensors = (bytes: Buffer) => bytes.subarray(8 + Number(bytes.readBigUInt64LE(0)));
    expect(tensors(weights(2)).equals(tensors(weights(0)))).toBe(true);
    expect(tensors(weights(1)).equals(tensors(weights(0)))).toBe(false);
    expect(io.records().filter((r) => r.event === 'rolled_back')).toMatchObject([{ from: 1, to: 0, version: 2 }]);
    expect(io.records().at(-1)).toMatchObject({ version: 3, updates: 2, groups: 2, rollbacks: 1 });
    expect(JSON.parse(readFileSync(join(cwd, dir, 'best.json'), 'utf8'))).toMatchObject({ version: 0, score: 0.5 });
  }, 120_000);

  it('takes evaluations from the pipe as well, and leaves out a line that nobody can read', async () => {
    const summary = { type: 'summary', v: 1, command: 'dart-eval', model_version: 0, success_rate: 0.75 };
    const piped = await train(['--rollback-interval'], lines([summary, ...makeGroup('a', screenshot)]));
    expect(piped.records.filter((r) => r.event === 'evaluated')).toMatchObject([{ version: 0, score: 0.75 }]);
    writeFileSync(join(cwd, 'odd.ndjson'), `{"type":"summ\n${lines([{ ...summary, success_rate: 0.8 }])}`);
    const stdin = new PassThrough();
    const { io, ended } = start(['--evaluations', 'odd.ndjson'], stdin);
    await vi.waitFor(() => expect(io.records().some((r) => r.event === 'evaluated')).toBe(true), { timeout: 60_000 });
    stdin.end();
    expect([await ended, io.err()]).toEqual([0, expect.stringContaining('left out: odd.ndjson:1: not JSON: ')]);
    expect(JSON.parse(readFileSync(join(cwd, dir, 'best.json'), 'utf8'))).toMatchObject({ version: 0, score: 0.8 });
  });

  it('does not go back after a restart where the run that went on did not', async () => {
    const file = `${dir}-late.ndjson`;
    const score = (model_version: number, success_rate: number) =>
      lines([{ type: 'summary', v: 1, command: 'dart-eval', model_version, success_rate }]);
    const stdin = new PassThrough();
    const args = ['--evaluations', file, '--rollback-drop', '0.1'];
    const { io, ended } = start(args, stdin);
    const until = (test: (record: Record<string, unknown>) => boolean) =>
      vi.waitFor(() => expect(io.records().some(test), io.err()).toBe(true), { timeout: 60_000 });
    stdin.write(samples(4));
    await until((r) => r.type === 'checkpoint' && r.version === 4);
    writeFileSync(join(cwd, file), score(4, 0.3) + score(2, 0.6));
    await until((r) => r.event === 'evaluated' && r.version === 2);
    stdin.end();
    await ended;
    expect(io.records().at(-1)).toMatchObject({ version: 4, rollbacks: 0 });
    const again = new PassThrough();
    const second = start(args, again);
    await vi.waitFor(() => expect(second.io.out().match(/"evaluated"/g)).toHaveLength(2), { timeout: 60_000 });
    again.end();
    expect(await second.ended).toBe(0);
    expect(second.io.records().at(-1)).toMatchObject({ version: 4, updates: 4, rollbacks: 0 });
    expect(second.io.err()).not.toContain('went back');
    expect(JSON.parse(readFileSync(join(cwd, dir, 'best.json'), 'utf8'))).toMatchObject({ version: 2, newest: 4 });
  });

  it('passes evaluations on where nothing is to be made of them', async () => {
    const summary = { type: 'summary', v: 1, command: 'dart-eval', model_version: 0, success_rate: 0.75 };
    const { records } = await train([], lines([summary, ...makeGroup('a', screenshot)]));
    expect(records.filter((r) => r.command === 'dart-eval')).toEqual([summary]);
  });

  it('is refused where the input is read before there is an update, and of a file that cannot be read', async () => {
    const sft = await train(['--objective', 'sft', '--rollback-drop', '0.1']);
    expect([sft.code, sft.err]).toEqual([2, expect.stringContaining('--objective sft reads all input before')]);
    const folder = await train(['--evaluations', 'blobs']);
    expect([folder.code, folder.err, versions()]).toEqual([2, expect.stringContaining('blobs: cannot read'), []]);
  });
});
