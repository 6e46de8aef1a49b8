import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ARMS } from './arms.ts';
import { runJobs, trainingPiece } from './job.ts';
import { evaluationFile } from './measure.ts';
import { trainingOf } from './plan.ts';
import { NO_FIGURES, runTraining } from './run.ts';
import { settingsFrom } from './settings.ts';
import { runLines } from './shell.ts';

vi.mock('./shell.ts', async (original) => ({ ...(await original<typeof import('./shell.ts')>()), runLines: vi.fn() }));
vi.mock('./run.ts', async (original) => ({ ...(await original<typeof import('./run.ts')>()), runTraining: vi.fn() }));
afterEach(() => vi.resetAllMocks());

describe('a training', () => {
  const arm = ARMS.find(({ name }) => name === 'full')!;
  const training = trainingOf(settingsFrom({ RUN_DIR: 'RUN' }), arm, 3, { path: 'base.onnx', sha256: 'f00' });

  it.each([
    [0, ['full, seed 3: no update was made in time; what is measured is the policy that it began with']],
    [1, []],
  ])('that has made %i updates says so', async (updates, lines) => {
    const end = { cuts: {}, figures: { ...NO_FIGURES, updates } };
    vi.mocked(runTraining).mockResolvedValue(end);
    const said: string[] = [];
    expect(await trainingPiece('full', training, (line) => said.push(line)).train()).toBe(end);
    expect(said).toEqual(lines);
  });
});

describe('the end of a run', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'dart-job-'));
    for (const cut of ['time', 'rollouts']) mkdirSync(join(dir, 'cuts', cut), { recursive: true });
    writeFileSync(join(dir, 'training.json'), JSON.stringify({ made: 'so', cuts: { time: {} }, figures: NO_FIGURES }));
    writeFileSync(evaluationFile(measure, { dir }), evaluation);
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const measure = { cut: 'time', name: 'train', tasks: { path: 'tasks', count: 2 }, repeats: 4 };
  const evaluation = `${JSON.stringify({ type: 'summary', v: 1, command: 'dart-eval', success_rate: 0.25, coverage: 1, mean_steps: 3, rollouts: 8 })}\n`;
  const evaluate = async () => {
    const piece = {
      name: 'full',
      dir,
      seed: 1,
      made: 'so',
      seconds: 1,
      train: () => Promise.reject(new Error('done')),
    };
    await runJobs(piece, [measure])[1]!.run();
  };
  /** What is there of `names`. */
  const there = (...names: string[]) => names.filter((name) => existsSync(join(dir, name)));
  const ALL = ['policy.onnx', 'run.json', 'cuts'];

  it('is the policy as one file, then run.json, and no versions', async () => {
    const seen: string[][] = [];
    vi.mocked(runLines).mockImplementation(async ([line]) => {
      seen.push([line!.replaceAll(dir, 'RUN'), ...there(...ALL)]);
      writeFileSync(join(dir, 'policy.onnx'), 'policy');
    });
    await evaluate();
    expect(seen).toEqual([['bin/dart-train export RUN/cuts/time -o RUN/policy.onnx --quiet', 'cuts']]);
    expect(there(...ALL)).toEqual(['policy.onnx', 'run.json']);
  });

  it('keeps the versions until the results are whole', async () => {
    vi.mocked(runLines).mockImplementation(async () => writeFileSync(join(dir, 'policy.onnx'), 'policy'));
    mkdirSync(join(dir, 'run.json'));
    await expect(evaluate()).rejects.toThrow('cannot write: it is a folder');
    expect(there('policy.onnx', 'cuts/time', 'cuts/rollouts')).toEqual(['policy.onnx', 'cuts/time', 'cuts/rollouts']);
  });

  it('is reached from versions that are half removed, where the policy is kept already', async () => {
    vi.mocked(runLines).mockRejectedValue(new Error('there is no latest.json'));
    writeFileSync(join(dir, 'policy.onnx'), 'policy');
    rmSync(join(dir, 'cuts', 'rollouts'), { recursive: true });
    await evaluate();
    expect(there(...ALL)).toEqual(['policy.onnx', 'run.json']);
    const { made, measures } = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8'));
    expect([made.split('\n')[0], measures['time/train'].success]).toEqual(['so', 0.25]);
  });
});
