import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import { type Episode, examplesOf } from '../../lib/training/engine.ts';
import { FrameCache } from '../../lib/training/frames.ts';
import { NetworkModel } from '../../lib/training/network_model.ts';
import { scorePass } from '../../lib/training/passes.ts';
import { collectPreferences } from '../../lib/training/preferences.ts';
import { spec as curateSpec } from '../curate/spec.ts';
import { spec as rolloutSpec } from '../rollout/spec.ts';
import { spec } from './spec.ts';

const fixture = (path: string) => join(packageRoot(), 'fixtures', path);
const BASE = fixture('policies/base.onnx');

let cwd = '';
/** Trajectories of the experts, who succeed, and of the base policy, which mostly does not. */
let trajectories = '';
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-preferences-'));
  const tasks = ['--tasks', fixture('tasks/embedded'), '--sample', '4', '--seed', '3', '--max-steps', '8'];
  for (const policy of ['script', `onnx:${BASE}`]) {
    const { code, out } = await run(rolloutSpec, [
      ...[...tasks, '--env', 'embedded:2', '--policy', policy, '-n', '2', '--blobs', 'blobs', '--quiet'],
      ...['--no-dynamic-rollouts', '--no-dynamic-length'],
    ]);
    expect(code).toBe(0);
    trajectories += out;
  }
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function run(command: CommandSpec, args: string[], stdin = '') {
  const io = testIo({ cwd, stdin });
  const code = await runCommand(command, args, io);
  const records = io.records();
  return { code, records, out: io.out(), err: io.err(), summary: records.at(-1) };
}

const pairsFor = async (kind: 'dpo' | 'kto', ...more: string[]) =>
  (await run(curateSpec, ['pairs', '--for', kind, '--quiet', ...more], trajectories)).out;

const train = (kind: 'dpo' | 'kto', dir: string, stdin: string, ...more: string[]) =>
  run(
    spec,
    [
      ...['--objective', kind, '--policy', `onnx:${BASE}`, '--publish', dir, '--blobs', 'blobs', '--quiet'],
      ...['--lr', '3e-4', ...more],
    ],
    stdin,
  );

/** Log-probability of whole episodes under a policy file. */
async function scored(policy: string, episodes: readonly Episode[]): Promise<number[]> {
  const model = await NetworkModel.open(policy, { threads: 1 });
  const frames = new FrameCache(new BlobStore(join(cwd, 'blobs')));
  const scores = await scorePass(model, episodes.flat(), frames, 8);
  await model.close();
  const sums = scores.map(({ logp }) => logp.reduce((sum, value) => sum + value, 0));
  return episodes.map((episode) => sums.splice(0, episode.length).reduce((sum, value) => sum + value, 0));
}

async function pairsIn(text: string) {
  const model = await NetworkModel.open(BASE, { threads: 1 });
  const records = readRecords(Readable.from([text]), { name: 'pairs', command: 'dart-train' });
  const passOn = async () => {};
  const onBadRecord = (error: unknown) => expect.fail(String(error));
  const dpo = { kind: 'dpo' as const, beta: 0.1 };
  const { batch } = await collectPreferences(records, model, dpo, { passOn, onBadRecord });
  await model.close();
  expect(examplesOf(batch).length).toBeGreaterThan(0);
  return batch.kind === 'dpo' ? batch.units : [];
}

describe('rollouts, dart-curate pairs, dart-train', () => {
  it('makes the successes of a task likelier than its failures with dpo', async () => {
    const text = await pairsFor('dpo', '--pairs', '2');
    const { code, records, summary } = await train('dpo', 'dpo', text, '--epochs', '4', '--batch-groups', '3');
    const pairs = await pairsIn(text);
    expect([code, summary?.pairs, summary?.unspelt_pairs]).toEqual([0, pairs.length, 0]);
    expect(pairs.length).toBeGreaterThanOrEqual(3);
    expect(records.some((record) => record.command === 'dart-curate pairs')).toBe(true);
    await run(spec, ['export', 'dpo', '-o', 'dpo.onnx', '--quiet']);
    const [chosen, rejected] = [pairs.map((pair) => pair.chosen), pairs.map((pair) => pair.rejected)];
    const gain = async (episodes: readonly Episode[]) => {
      const [before, after] = [await scored(BASE, episodes), await scored(join(cwd, 'dpo.onnx'), episodes)];
      return after.reduce((sum, logp, i) => sum + logp - before[i]!, 0) / episodes.length;
    };
    // β = 0.1: a reward of 0.1 is a nat.
    const [up, down] = [await gain(chosen), await gain(rejected)];
    expect(up).toBeGreaterThan(0);
    expect(up - down).toBeGreaterThan(1);
    const losses = records.filter((r) => r.name === 'train/loss').map((r) => r.value as number);
    expect(losses[0]).toBeCloseTo(Math.log(2), 5);
    expect(Math.max(...losses.slice(-2))).toBeLessThan(losses[0]!);
  });

  it('learns the labels with kto', async () => {
    const text = await pairsFor('kto');
    const { code, records, summary } = await train('kto', 'kto', text, '--epochs', '3');
    expect([code, summary?.stopped]).toEqual([0, 'epochs']);
    const values = (name: string) => records.filter((r) => r.name === `train/${name}`).map((r) => r.value as number);
    expect(values('rewards_margins').at(-1)).toBeGreaterThan(0.1);
    expect(values('kl').every((kl) => kl >= 0)).toBe(true);
  });
});

describe('dart-train --objective dpo and kto', () => {
  it('counts an update in pairs or episodes, and says so where steps are asked for', async () => {
    for (const [kind, unit] of [
      ['dpo', 'pairs'],
      ['kto', 'episodes'],
    ] as const) {
      const { code, err } = await train(kind, 'none', '', '--batch-samples', '8');
      expect([code, err]).toEqual([2, expect.stringContaining(`learns from whole ${unit}. Try: --batch-groups N`)]);
    }
    const { err } = await train('kto', 'none', '', '--batch-groups', '1');
    expect(err).toContain('--batch-groups: kto measures an episode against another of its update');
    expect(existsSync(join(cwd, 'none'))).toBe(false);
  });

  it('takes β and the weights from its options', async () => {
    const options = ['--preference-beta', '0.3', '--desirable-weight', '1.5', '--undesirable-weight', '0.5'];
    const wanted = { kind: 'kto', beta: 0.3, desirableWeight: 1.5, undesirableWeight: 0.5 };
    const { records } = await train('kto', 'none', '', '--dry-run', ...options);
    expect(records[0]).toMatchObject({ settings: { objective: wanted, batchSamples: 16, publishEvery: 0 } });
    const { err } = await train('dpo', 'none', '', '--preference-beta', '0');
    expect(err).toContain("--preference-beta: expected a number above 0 but received '0'");
  });

  it('says in --print-config what the objective decides', async () => {
    const { records } = await run(spec, ['--objective', 'dpo', '--print-config']);
    expect(records[0]?.options).toMatchObject({
      lr: { from: 'objective dpo' },
      'batch-groups': { value: 8, from: 'objective dpo' },
      'batch-samples': { value: null, origin: 'unset' },
      'preference-beta': { value: 0.1 },
      'clip-low': { value: null, origin: 'unset' },
    });
  });

  it('names the line of a record for the other objective, and exits 2 where it is skipped', async () => {
    const text = await pairsFor('kto');
    const { code, err } = await train('dpo', 'none', text);
    expect([code, err]).toEqual([2, expect.stringMatching(/stdin:1: a preference for kto, of which dpo cannot learn/)]);
    const both = text + (await pairsFor('dpo'));
    const skipped = await train('dpo', 'skip', both, '--on-error', 'skip', '--max-updates', '1');
    expect([skipped.code, skipped.summary?.records_skipped, skipped.summary?.updates]).toEqual([2, 16, 1]);
  });

  it('exits 1 where there is no preference', async () => {
    const { code, err } = await train('dpo', 'nothing', trajectories);
    expect([code, err]).toEqual([1, expect.stringContaining('Try: dart-curate pairs --for dpo')]);
  });
});
