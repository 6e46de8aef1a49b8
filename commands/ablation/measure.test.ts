import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ARMS } from './arms.ts';
import { readBase } from './base.ts';
import type { Conditions } from './conditions.ts';
import { conditionsFiles, conditionsOf } from './conditions_run.ts';
import { finishedRuns, type RunRecord, runJobs, trainingPiece } from './job.ts';
import { isLadderRun, ladderJobs, ladderRuns } from './ladder_runs.ts';
import { evaluationFile, type Measure, measureLine, removeOthers } from './measure.ts';
import { trainingOf } from './plan.ts';
import { NO_FIGURES } from './run.ts';
import { settingsFrom } from './settings.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'measure-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const measure: Measure = { cut: 'time', name: 'train', tasks: { path: 'tasks', count: 60 }, repeats: 8, sample: null };
const base = { path: 'base.onnx', sha256: 'abcdef0123456789' };

describe('the file of an evaluation', () => {
  it('says what was measured, and whose it is', () => {
    expect(evaluationFile(measure, { dir }).replace(dir, '')).toMatch(/^\/eval-time-train\.8xall-[0-9a-f]{8}\.ndjson$/);
    expect(evaluationFile({ ...measure, sample: 4 }, { dir, policy: 'abc' }).replace(dir, '')).toMatch(
      /^\/eval-time-train-abc\.8x4-[0-9a-f]{8}\.ndjson$/,
    );
  });

  it('is another one for other tasks, repeats, samples and options, and the same in another folder', () => {
    const others: Measure[] = [
      { ...measure, tasks: { path: 'others', count: 60 } },
      { ...measure, repeats: 4 },
      { ...measure, sample: 4 },
      { ...measure, sample: 12 },
      { ...measure, more: ['--max-steps', '15'] },
      { ...measure, more: ['--max-steps', '15', '--protocol', 'hard'] },
    ];
    const files = [measure, ...others].map((each) => evaluationFile(each, { dir }));
    expect(new Set(files).size).toBe(7);
    const local = (folder: string) => ({ ...measure, more: ['--trajectories', join(folder, 'case.ndjson')] });
    expect(evaluationFile(local('/a'), { dir: '/a' })).toBe(
      evaluationFile(local('/b'), { dir: '/b' }).replace('/b/', '/a/'),
    );
  });

  it('is what its line writes', () => {
    const line = measureLine({ ...measure, sample: 4, more: ['--max-steps', '15'] }, { dir }, 'p.onnx', 3);
    expect(line).toContain('--tasks tasks --policy onnx:p.onnx');
    expect(line).toContain('--repeats 8');
    expect(line).toContain('--seed 3');
    expect(line).toContain(`-o ${evaluationFile({ ...measure, sample: 4, more: ['--max-steps', '15'] }, { dir })}`);
    expect(line).toMatch(/--sample 4 --max-steps 15$/);
  });

  it('takes the place of one that was measured in another way, and of no other', () => {
    const files = [
      ...[measure, { ...measure, repeats: 4 }, { ...measure, name: 'train-hard' }, { ...measure, cut: 'rollouts' }],
    ].map((each) => evaluationFile(each, { dir }));
    for (const file of files) writeFileSync(file, '');
    removeOthers(measure, { dir });
    expect(files.map((file) => existsSync(file))).toEqual([true, false, true, true]);
  });
});

describe('what is measured of the base policy', () => {
  const productsOf = (env: Record<string, string>, policy = base) =>
    ladderJobs(settingsFrom({ RUN_DIR: dir, SEEDS: '1', ...env }), policy, () => {})
      .slice(0, 2)
      .map(({ product }) => product);

  it('is kept by policy, suite, tasks and repeats', () => {
    const all = [
      ...[productsOf({}), productsOf({ EVAL_TASKS: '4' }), productsOf({ EVAL_TASKS: '12' })],
      ...[productsOf({ REPEATS: '2' }), productsOf({}, { path: 'other.onnx', sha256: '0123' })],
    ];
    expect(new Set(all.flat()).size).toBe(10);
    expect(productsOf({ POINT_REPEATS: '1', TRAIN_SECONDS: '9' })).toEqual(productsOf({}));
  });

  it('is kept by tasks and repeats where it is for the conditions', () => {
    const of = (env: Record<string, string>, policy = base) =>
      conditionsFiles(settingsFrom({ RUN_DIR: dir, ...env }), policy);
    const all = [
      ...[of({}), of({ EVAL_TASKS: '4' }), of({ EVAL_TASKS: '12' }), of({ CONDITION_REPEATS: '8' })],
      of({}, { path: 'other.onnx', sha256: '0123' }),
    ];
    expect(new Set(all.flatMap(({ output, rollouts }) => [output, rollouts])).size).toBe(10);
    for (const { line, output, rollouts } of all) {
      expect(line).toContain(`-o ${output}`);
      expect(line).toContain(`--trajectories ${rollouts}`);
    }
    expect(all[1]!.line).toContain('--sample 4');
    expect(all[0]!.line).not.toContain('--sample');
  });

  it('is not made for a report alone', async () => {
    const settings = settingsFrom({ RUN_DIR: dir });
    const how = { make: false, say: () => {}, stop: new AbortController().signal };
    await expect(conditionsOf(settings, base, how)).rejects.toMatchObject({
      message: 'the conditions have not been measured with these settings',
      where: conditionsFiles(settings, base).output,
      hint: 'the settings of before, or without --report',
    });
    expect(readdirSync(dir)).toEqual([]);
  });

  it('begins with a file that can be read', () => {
    expect(() => readBase(join(dir, 'none.onnx'))).toThrow(
      'cannot read the policy that BASE names: no such file or folder',
    );
    expect(() => readBase(dir)).toThrow('cannot read the policy that BASE names: it is a folder');
    writeFileSync(join(dir, 'base.onnx'), 'abc');
    // sha256 of "abc": FIPS 180-2, appendix B.1.
    expect(readBase(join(dir, 'base.onnx')).sha256).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

describe('finished runs', () => {
  const arm = ARMS.find(({ name }) => name === 'baseline')!;
  const piecesOf = (env: Record<string, string>) => {
    const settings = settingsFrom({ RUN_DIR: dir, ...env });
    return [1, 2, 3].map((seed) => ({
      piece: trainingPiece('baseline', trainingOf(settings, arm, seed, base), () => {}),
      measures: [{ ...measure, repeats: settings.repeats }],
    }));
  };
  const finish = (seed: number, made: string) => {
    const run: RunRecord = { name: 'baseline', seed, made, cuts: {}, figures: NO_FIGURES, measures: {} };
    mkdirSync(join(dir, 'baseline', String(seed)), { recursive: true });
    writeFileSync(join(dir, 'baseline', String(seed), 'run.json'), JSON.stringify(run));
  };
  const madeOf = ({ piece, measures }: ReturnType<typeof piecesOf>[number]) =>
    [piece.made, JSON.stringify(measures[0])].join('\n').replaceAll(piece.dir, 'RUN');

  it('are those of these settings; others are named', () => {
    const [now, before] = [piecesOf({}), piecesOf({ TRAIN_SECONDS: '60' })];
    finish(1, madeOf(now[0]!));
    finish(2, madeOf(before[1]!));
    const said: string[] = [];
    expect(finishedRuns(now, (line) => said.push(line)).map(({ seed }) => seed)).toEqual([1]);
    expect(said).toEqual([
      `left out: baseline, seed 2: it was made with other settings or by other options (${join(dir, 'baseline/2/run.json')})`,
    ]);
    const other = piecesOf({ REPEATS: '2' });
    expect(finishedRuns(other, () => {})).toEqual([]);
    const [training] = runJobs(other[0]!.piece, other[0]!.measures);
    expect(() => training!.check!()).toThrow('made with other settings');
  });

  it('make a report only where there is one, and where the base was evaluated alike', async () => {
    const settings = settingsFrom({ RUN_DIR: dir, ARMS: 'baseline', SEEDS: '1' });
    const report = () =>
      ladderRuns(settings, base, { zero: ['hard'], easy: ['open'] } as unknown as Conditions, () => {});
    await expect(report()).rejects.toThrow('no run of these settings is finished');
    const jobs = ladderJobs(settings, base, () => {});
    const text = (success_rate: number) =>
      `${JSON.stringify({ type: 'summary', v: 1, command: 'dart-eval', success_rate, coverage: 1, mean_steps: 3, rollouts: 480 })}\n`;
    const made = [piecesOf({})[0]!.piece.made, ...ladderMeasures(settings)];
    finish(1, made.join('\n').replaceAll(join(dir, 'baseline', '1'), 'RUN'));
    await expect(report()).rejects.toThrow('the base policy has not been evaluated on train with these settings');
    writeFileSync(jobs[0]!.product, text(0.25));
    writeFileSync(jobs[1]!.product, text(0.125));
    const all = await report();
    expect([all.runs.length, all.base.train.success, all.base.heldout.success]).toEqual([1, 0.25, 0.125]);
    expect([[...all.kinds.never], [...all.kinds.easy]]).toEqual([['hard'], ['open']]);
  });

  it('stay published whatever their arm and seed, other settings aside', () => {
    const settings = settingsFrom({ RUN_DIR: dir, ARMS: 'full', SEEDS: '1' });
    const made = [piecesOf({})[2]!.piece.made, ...ladderMeasures(settings)];
    const text = made.join('\n').replaceAll(join(dir, 'baseline', '3'), 'RUN');
    const run: RunRecord = { name: 'baseline', seed: 3, made: text, cuts: {}, figures: NO_FIGURES, measures: {} };
    expect(isLadderRun(settings, base, run)).toBe(true);
    expect(isLadderRun(settings, base, { ...run, seed: 2 })).toBe(false);
    expect(isLadderRun(settings, base, { ...run, name: 'of before' })).toBe(false);
    expect(isLadderRun(settings, base, { ...run, made: text.replace('--lr 1e-4', '--lr 3e-4') })).toBe(false);
    expect(isLadderRun(settingsFrom({ RUN_DIR: dir, TRAIN_SECONDS: '60' }), base, run)).toBe(false);
  });
});

/** The measures of a ladder run, as published runs have them. */
function ladderMeasures({ repeats, pointRepeats }: { repeats: number; pointRepeats: number }): string[] {
  const suites = { train: 'fixtures/tasks/embedded', heldout: 'fixtures/tasks/heldout' };
  const at = (cut: string, name: keyof typeof suites, count: number) =>
    JSON.stringify({ cut, name, tasks: { path: suites[name], count: 60 }, repeats: count, sample: null });
  return [
    ...[at('time', 'train', repeats), at('time', 'heldout', repeats), at('rollouts', 'train', repeats)],
    ...[1, 2, 3, 4, 5, 6, 7].map((point) => at(`point-${point}`, 'train', pointRepeats)),
  ];
}
