import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { greyScreen, groupLines } from './fixture.testing.ts';
import { TRAIN_OPTIONS } from './options.ts';
import { spec } from './spec.ts';

const BASE = join(packageRoot(), 'fixtures/policies/base.onnx');
/** The largest number that float32 holds. */
const FLOAT32 = 3.4028234663852886e38;

let cwd = '';
let screenshot = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-limits-'));
  screenshot = greyScreen(join(cwd, 'blobs'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function train(folder: string, args: string[]) {
  const io = testIo({ cwd, stdin: groupLines(1, screenshot) });
  const place = ['--publish', folder, '--policy', `onnx:${BASE}`, '--blobs', 'blobs', '--batch-groups', '1', '--quiet'];
  const code = await runCommand(spec, [...place, ...args], io);
  return { code, err: io.err(), records: io.records() };
}

describe('a numeric option', () => {
  it('has limits, unless it only counts', () => {
    const counts = TRAIN_OPTIONS.filter(({ type, max }) => type === 'integer' && max === undefined);
    // Nothing is computed with these: they are compared, or parts of lists are taken by them.
    expect(counts.map(({ name }) => name)).toEqual([
      ...['lr-warmup', 'lr-total-updates', 'batch-samples', 'batch-groups', 'micro-batch', 'max-bad-updates'],
      ...['publish-every', 'keep-versions', 'max-updates', 'max-samples', 'keep-states'],
    ]);
    for (const { name, type, min, max } of TRAIN_OPTIONS.filter((option) => option.type === 'number')) {
      expect([name, type, min! >= 0, max! < FLOAT32]).toEqual([name, 'number', true, true]);
    }
  });

  it.each([
    ['--threads 1025', 'an integer, 1 to 1024,'],
    ['--aggregation constant --aggregation-constant 0', 'a number, 1 to 2147483647,'],
    ['--aggregation constant --aggregation-constant -1', 'a number, 1 to 2147483647,'],
    ['--weight-decay 1e39', 'a number, 0 to 1000000,'],
    ['--weight-decay 1e300', 'a number, 0 to 1000000,'],
    ['--lr 1e39', 'a number, 0 to 1000000,'],
    ['--kl-beta 1e39', 'a number, 0 to 1000000,'],
    ['--objective dpo --preference-beta 1e300', 'a number, 0 to 1000000,'],
    ['--objective kto --undesirable-weight 1e300', 'a number, 0 to 1000000,'],
    ['--tis-cap 1e39', 'a number, 0 to 1e+30,'],
    ['--max-grad-norm 0', 'a number above 0'],
    ['--keep-entropy 1.5', 'a number, 0 to 1,'],
    ['--epochs 4294967296', 'an integer, 1 to 2147483647,'],
    ['--betas 0.9,0.99999999999', 'two numbers from 0 to 0.9999999'],
    ['--betas 1,0.9', 'two numbers from 0 to 0.9999999'],
  ])('of %s is refused with what it may be', async (args, wanted) => {
    const { code, err } = await train('refused', args.split(' '));
    expect([code, err]).toEqual([2, expect.stringContaining(`: expected ${wanted} but received '`)]);
    expect(err).toContain('Usage: dart-train');
  });

  it('may have the largest value of each, all at once', async () => {
    const numbers = ['clip-low', 'clip-high', 'dual-clip', 'tis-cap', 'kl-beta', 'entropy-coef', 'keep-entropy'];
    const more = ['aggregation-constant', 'lr', 'weight-decay', 'max-grad-norm', 'minibatches', 'threads'];
    const most = TRAIN_OPTIONS.filter(({ name }) => [...numbers, ...more].includes(name));
    const args = most.flatMap(({ name, max }) => [`--${name}`, String(max)]);
    const { code, err } = await train('most', [...args, '--aggregation', 'constant', '--betas', '0.9999999,0.9999999']);
    // The step is of no use to anybody; what comes of it is an update, or one that is skipped.
    expect([code < 2, err.includes('this is a bug')]).toEqual([true, false]);
  });
});
