import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { greyScreen, lines, makeGroup } from './fixture.testing.ts';
import { spec } from './spec.ts';
import { type FakeTorch, fakeTorch } from './torch.testing.ts';

let cwd = '';
let screenshot = '';
let fake: FakeTorch;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-rollback-torch-'));
  screenshot = greyScreen(join(cwd, 'blobs'));
  fake = fakeTorch(cwd);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const score = (model_version: number, success_rate: number): AnyRecord => ({
  ...{ type: 'summary', v: 1, command: 'dart-eval', policy: 'vllm:x', model_version, success_rate },
});
const group = (id: string) => makeGroup(id, screenshot);

async function train(folder: string, input: AnyRecord[], ...more: string[]) {
  fake.forget();
  const env = { XDG_CONFIG_HOME: '/nonexistent', PATH: process.env.PATH, FAKE_TORCH: '' };
  const io = testIo({ cwd, stdin: lines(input), env });
  const place = ['--publish', folder, '--policy', 'hf:checkpoint', '--python', './python', '--blobs', 'blobs'];
  const options = ['--preset', 'grpo', '--batch-groups', '1', '--nproc', '2', '--rollback-drop', '0.2', ...more];
  const code = await runCommand(spec, [...place, ...options, '--quiet'], io);
  return { code, records: io.records(), err: io.err(), summary: io.records().at(-1) };
}

const saved = (folder: string, version: number) =>
  JSON.parse(readFileSync(join(cwd, folder, `versions/00000${version}/model.safetensors`), 'utf8'));

it('the torch engine goes back to a version with its optimiser, and learns on from there', async () => {
  const input = [...group('a'), score(1, 0.6), ...group('b'), ...group('c'), score(3, 0.2), ...group('d')];
  const { code, summary, records } = await train('a', input);
  expect([code, summary?.version, summary?.rollbacks, summary?.groups]).toEqual([0, 5, 1, 4]);
  expect(records.filter((r) => r.event === 'rolled_back')).toMatchObject([{ from: 3, to: 1, version: 4 }]);
  expect(fake.asked().map((request) => request.do)).toEqual([
    ...['open', 'step', 'save', 'step', 'save', 'step', 'save'],
    ...['restore', 'save', 'step', 'save', 'close'],
  ]);
  expect(saved('a', 4)).toEqual(saved('a', 1));
  expect(saved('a', 3)).not.toEqual(saved('a', 1));
  expect(saved('a', 5)).toEqual(saved('a', 2));
});

it('goes back to the checkpoint itself', async () => {
  const { code, summary } = await train('b', [score(0, 0.6), ...group('a'), score(1, 0.2), ...group('b')]);
  expect([code, summary?.version, summary?.rollbacks]).toEqual([0, 3, 1]);
  expect(saved('b', 3)).toEqual(saved('b', 1));
});

it('says so where the optimiser of the best version is no longer kept', async () => {
  const input = ['a', 'b', 'c'].flatMap(group);
  const { code, err, summary } = await train('c', [...input, score(1, 0.6), score(3, 0.2)], '--keep-states', '1');
  expect([code, summary?.rollbacks]).toEqual([0, 0]);
  expect(err).toContain('the evaluation of version 1 scored best so far (0.6), but there is no going back to it');
});
