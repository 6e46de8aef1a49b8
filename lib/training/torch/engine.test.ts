import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeTorch, fakeTorch } from '../../../commands/train/torch.testing.ts';
import type { Episode } from '../engine.ts';
import { makeExample } from '../learner.testing.ts';
import { PRESETS } from '../presets.ts';
import { freshState } from '../state.ts';
import { spaceError, TorchEngine } from './engine.ts';
import { endedRank } from './failure.ts';
import { sampleFileOf } from './sample_file.ts';
import type { TorchSettings } from './settings.ts';

let folder = '';
let fake: FakeTorch;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dart-engine-'));
  fake = fakeTorch(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(env: Record<string, string> = {}) {
  const settings: TorchSettings = {
    model: {
      ...{ dtype: 'float32', lora: null, freezeVision: true, gradientCheckpointing: true, reference: 'none' },
      ...{ attention: 'sdpa', packed: true, microTokens: 100, headChunk: 10, maxLength: 1000, offload: false },
      ...{ minPixels: null, maxPixels: null },
    },
    launch: {
      ...{ python: fake.program, nproc: '2', nnodes: 1, rendezvous: null, threads: 1, startTimeoutMs: 60_000 },
    },
    adam: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 },
    aggregationConstant: null,
    coordinates: 'absolute',
    seed: 1,
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {} };
  return TorchEngine.open({
    settings,
    objective: { kind: 'policy', policy: PRESETS.grpo.objective },
    place: {
      ...{
        checkpoint: fake.checkpoint,
        blobs: folder,
        scratch: join(folder, 'scratch'),
        env: { ...process.env, ...env },
      },
      ...{ log, signal: new AbortController().signal, onProgress: () => {} },
    },
  });
}

const example = (id: string) => makeExample([1, 2], { id });
const asked = () => fake.asked().map((request) => request.do);

describe('TorchEngine', () => {
  it('scores anew what was scored before a step, and nothing twice', async () => {
    const engine = await open();
    const [a, b] = [example('a'), example('b')];
    const step = (onPolicy: boolean) => engine.step({ kind: 'policy', units: [a, b] }, { lr: 1, onPolicy });
    expect(await engine.measure([a])).toEqual([0]);
    await engine.scoreOld([a, b]);
    await step(true);
    await step(false);
    await engine.scoreOld([a, b]);
    await engine.close();
    const scored = fake
      .asked()
      .flatMap(({ do: what, lines }) => (what === 'score' ? [lines!.map(({ id }) => id)] : []));
    expect(scored).toEqual([['a'], ['b'], ['a', 'b']]);
    expect(engine.optimizerSteps).toBe(2);
  });

  it('goes back to the checkpoint by loading it anew, where its weights have moved', async () => {
    const engine = await open();
    const start = freshState('base');
    await engine.restore(folder, start);
    await engine.step({ kind: 'policy', units: [example('a')] }, { lr: 1, onPolicy: true });
    await engine.restore(folder, start);
    expect(engine.optimizerSteps).toBe(0);
    expect(await engine.measure([example('a')])).toEqual([0]);
    await engine.close();
    expect(asked()).toEqual(['open', 'step', 'close', 'open', 'score', 'close']);
  });

  it('leaves ids beyond the vocabulary to the ranks, which name the sample, and no file behind', async () => {
    const engine = await open();
    expect([engine.isReply([0, 299]), engine.isReply([300]), engine.isReply([-1]), engine.isReply([1.5])]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    await engine.measure([example('a')]);
    expect(readdirSync(join(folder, 'scratch'))).toEqual([]);
    await engine.close();
    expect(existsSync(join(folder, 'scratch'))).toBe(false);
  });

  it('stays failed once it has failed', async () => {
    const engine = await open({ FAKE_TORCH: 'fault@score' });
    const failures = await Promise.allSettled([engine.measure([example('a')])]);
    expect(failures).toMatchObject([{ reason: { message: 'rank 1: ValueError: no such layer' } }]);
    await expect(engine.save(folder, { ...freshState('base'), updates: 1 })).rejects.toThrow('no such layer');
    await engine.close();
  });
});

describe('spaceError', () => {
  const died = new Error('rank 0 ended with exit code 1');
  const free = (bavail: number) => async () => ({ bavail, bsize: 4096 });

  it('names the full disk that the ranks could not tell of', async () => {
    const full = (await spaceError(died, 'runs/tars', free(255))) as Error;
    expect(full.message).toBe('cannot publish: the disk is full');
    expect(full).toMatchObject({ where: 'runs/tars', hint: 'free some space, or another disk' });
  });

  it('leaves the error as it is where there is space, or nobody knows', async () => {
    expect(await spaceError(died, 'runs/tars', free(256))).toBe(died);
    expect(await spaceError(died, 'runs/tars', () => Promise.reject(new Error('gone')))).toBe(died);
  });
});

describe('a sample file', () => {
  const episode = (name: string, steps: number): Episode =>
    Array.from({ length: steps }, (_, i) => example(`${name}:${i}`));

  it('numbers the labelled episodes of kto', () => {
    const units = [
      { episode: episode('x', 2), label: false },
      { episode: episode('y', 1), label: true },
    ];
    const { text, pairs, labels } = sampleFileOf({ kind: 'kto', units }, 'absolute');
    const numbers = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).episode);
    expect([numbers, labels, pairs]).toEqual([[0, 0, 1], [false, true], null]);
  });
});

describe("the launcher's report", () => {
  const report = (...ranks: [number, number][]) =>
    ranks.flatMap(([rank, code]) => [`  rank      : ${rank} (local_rank: 0)`, `  exitcode  : ${code} (pid: 1)`]);

  it('blames the rank that a signal ended, else the one that it calls the root cause', () => {
    expect(endedRank(report([0, 1], [1, -9]))).toEqual({ rank: 1, exitCode: -9 });
    expect(endedRank(report([3, -11], [0, 1]))).toEqual({ rank: 3, exitCode: -11 });
    // SIGTERM is how the launcher ends the others.
    expect(endedRank(report([0, -15], [2, 1]))).toEqual({ rank: 2, exitCode: 1 });
    expect(endedRank(['Traceback'])).toBeNull();
  });
});
