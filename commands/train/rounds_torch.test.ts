import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { makeStep, makeTrajectory } from '../../lib/stream/records.testing.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { greyScreen, lines, REPLIES } from './fixture.testing.ts';
import { spec } from './spec.ts';
import { type FakeTorch, fakeTorch } from './torch.testing.ts';

let cwd = '';
let screenshot = '';
let fake: FakeTorch;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-rounds-torch-'));
  screenshot = greyScreen(join(cwd, 'blobs'));
  fake = fakeTorch(cwd);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** An episode of three steps. */
const shown = (trajectory_id: string): AnyRecord =>
  makeTrajectory(
    REPLIES.map((text, i) => makeStep(i, { text }, screenshot)),
    { trajectory_id },
  );

async function train(folder: string, input: AnyRecord[]) {
  fake.forget();
  const env = { XDG_CONFIG_HOME: '/nonexistent', PATH: process.env.PATH, FAKE_TORCH: '' };
  const io = testIo({ cwd, stdin: lines(input), env });
  const place = ['--publish', folder, '--policy', 'hf:checkpoint', '--python', './python', '--blobs', 'blobs'];
  const code = await runCommand(spec, [...place, '--objective', 'sft', '--batch-samples', '3', '--nproc', '2'], io);
  const steps = fake.asked().filter((request) => request.do === 'step');
  return {
    code,
    err: io.err(),
    summary: io.records().at(-1),
    steps: steps.map((step) => step.lines!.map(({ id }) => String(id)).sort()),
  };
}

it('the torch engine learns from one material after the other, and from none twice', async () => {
  const [first, second] = [[shown('a')], [shown('b'), shown('c')]];
  expect((await train('a', first)).steps).toEqual([['a:0', 'a:1', 'a:2']]);
  const { steps, summary, err } = await train('a', second);
  expect(steps.flat().sort()).toEqual(['b:0', 'b:1', 'b:2', 'c:0', 'c:1', 'c:2']);
  expect([steps.length, summary?.version, summary?.demonstrated_steps]).toEqual([2, 3, 6]);
  expect(err).toContain('other demonstrations than before: begins with them at version 1');
  const again = await train('a', second);
  expect([again.code, again.steps, again.summary?.version]).toEqual([0, [], 3]);
  expect(again.err).toContain('learned already, in 1 pass: nothing is left to do');
});
