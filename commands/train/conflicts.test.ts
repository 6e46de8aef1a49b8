import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { makeStep, makeTrajectory } from '../../lib/stream/records.testing.ts';
import { greyScreen, lines, REPLIES } from './fixture.testing.ts';
import { spec } from './spec.ts';

const BASE = join(packageRoot(), 'fixtures/policies/base.onnx');

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-conflicts-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function train(args: string, env: Record<string, string> = {}, stdin = '') {
  const io = testIo({ cwd, stdin, env: { XDG_CONFIG_HOME: '/nonexistent', ...env } });
  const place = ['--publish', 'p', '--policy', `onnx:${BASE}`, '--blobs', 'blobs'];
  const code = await runCommand(spec, [...place, ...args.split(' ')], io);
  return { code, err: io.err() };
}

describe('dart-train refuses', () => {
  it.each([
    ['--batch-groups 2 --batch-samples 8', '--batch-groups, --batch-samples: both say how much an update learns from'],
    ['--objective sft --batch-groups 2', '--batch-groups: it counts groups, and sft learns from single steps'],
    [
      '--objective sft --batch-groups 2 --batch-samples 8',
      'sft learns from single steps. Try: --batch-samples without it\n',
    ],
    ['--lr-total-updates 9', '--lr-total-updates: a constant learning rate has no end that it falls to'],
    ['--lr-floor 0.1', '--lr-floor: a constant learning rate has no end that it falls to'],
    [
      '--lr-schedule linear --lr-warmup 10 --lr-total-updates 5',
      '--lr-warmup, --lr-total-updates: a warm-up of 10 updates leaves nothing of 5 to fall in',
    ],
    ['--lr-schedule cosine --lr-warmup 5 --lr-total-updates 5', 'a warm-up of 5 updates leaves nothing of 5'],
    ['--objective sft --all-outcomes --min-reward 0.5', '--all-outcomes and --min-reward exclude each other'],
  ])('%s', async (args, message) => {
    const { code, err } = await train(`${args} --dry-run`);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });

  it('what a variable says against a flag, by its name', async () => {
    const { code, err } = await train('--batch-samples 8 --dry-run', { DART_BATCH_GROUPS: '2' });
    expect([code, err]).toEqual([2, expect.stringContaining('dart-train: DART_BATCH_GROUPS, --batch-samples: both')]);
  });
});

describe('dart-train warns of', () => {
  it.each([
    [
      '--lr-warmup 10 --max-updates 4',
      '--lr-warmup 10, and there are 4 updates: the learning rate does not come to its peak',
    ],
    ['--lr-schedule linear --lr-warmup 4 --max-updates 4', 'there are 4 updates: the learning rate does not fall'],
    ['--objective sft --kl-beta 0 --tis-cap 2', '--objective sft makes no use of --tis-cap, --kl-beta'],
    ['--objective dpo --desirable-weight 2', '--objective dpo makes no use of --desirable-weight'],
    ['--min-reward 0.5', '--objective grpo makes no use of --min-reward'],
    ['--no-tis --tis-mode mask', 'without effect: --tis-mode: w is 1. Try: leave --no-tis out\n'],
    ['--preset grpo --tis-level token', 'without effect: --tis-level: w is 1. Try: --tis-cap C\n'],
    ['--preset grpo --kl-estimator k1', 'without effect: --kl-estimator: there is no KL term'],
    ['--aggregation-constant 9', 'without effect: --aggregation-constant: the mean is sequence-mean'],
  ])('%s', async (args, message) => {
    const { code, err } = await train(`${args} --dry-run`);
    expect([code, err]).toEqual([0, expect.stringMatching(/^dart-train: warning: [^\n]*\n$/)]);
    expect(err).toContain(message);
  });

  it.each([
    '--batch-groups 2 --kl-beta 0 --aggregation token-mean --tis-level sequence',
    '--lr-schedule cosine --lr-warmup 3 --max-updates 4 --lr-floor 0.1',
    '--lr-schedule linear --lr-warmup 4 --lr-total-updates 5 --loss dr_grpo --aggregation-constant 9',
    '--objective kto --preference-beta 0.2 --desirable-weight 2 --batch-groups 4',
    '--objective sft --all-outcomes --batch-samples 8',
  ])('nothing: %s', async (args) => {
    expect(await train(`${args} --dry-run`)).toEqual({ code: 0, err: '' });
  });

  it('a warm-up that the demonstrations are too few for, as soon as they are counted', async () => {
    const screenshot = greyScreen(join(cwd, 'blobs'));
    const demos = lines([makeTrajectory(REPLIES.map((text, i) => makeStep(i, { text }, screenshot)))]);
    const sft = '--objective sft --epochs 2 --batch-samples 3 --lr-schedule cosine --lr-warmup 3 --quiet';
    const { code, err } = await train(sft, {}, demos);
    expect([code, err]).toEqual([
      0,
      'dart-train: warning: --lr-warmup 3, and there are 2 updates: the learning rate does not come to its peak. Try: a shorter warm-up\n',
    ]);
  }, 60_000);
});
