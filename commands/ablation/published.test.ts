import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { ARMS } from './arms.ts';
import { readBase } from './base.ts';
import { rowsAt } from './compare.ts';
import { type RunRecord, runJobs } from './job.ts';
import { curvePoints } from './ladder_report.ts';
import { isLadderRun } from './ladder_runs.ts';
import { TIME_CUT } from './plan.ts';
import { publishedPath, publishedRuns, publishRuns, takePublished } from './published.ts';
import { gain, share } from './report.ts';
import { NO_FIGURES } from './run.ts';
import { settingsFrom } from './settings.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'published-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const measured = (success: number) => ({ success, coverage: 1, steps: 5, rollouts: 8, tasks: { open: success } });
const run = (seed: number, made: string): RunRecord => ({
  ...{ name: 'full', seed, made, figures: NO_FIGURES },
  cuts: { time: { seconds: 300, trajectories: 9000, version: 120 } },
  measures: { 'time/train': measured(0.5), 'point-1/train': measured(0.25) },
});
const piece = (seed: number, made: string) => {
  const train = () => Promise.reject(new Error('it is there already'));
  return { name: 'full', dir: join(dir, 'runs', 'full', String(seed)), seed, made, seconds: 300, train };
};

describe('published runs', () => {
  it('come back as runs that are not made again, the tasks of curve points aside', async () => {
    const file = join(dir, 'runs.ndjson');
    const said: string[] = [];
    await publishRuns(file, [run(1, 'by these lines'), run(2, 'by these lines')], {
      stays: () => true,
      points: ['point-1'],
    });
    const take = () =>
      takePublished(
        file,
        join(dir, 'runs'),
        () => true,
        (line) => said.push(line),
      );
    await take();
    await take();
    expect(said.map((line) => line.replace(/from .*\//, 'from '))).toEqual([
      ...['2 runs taken from runs.ndjson', '0 runs taken from runs.ndjson'],
    ]);
    const back = JSON.parse(readFileSync(join(dir, 'runs/full/2/run.json'), 'utf8'));
    const whole = run(2, 'by these lines');
    expect(back).toEqual({
      ...whole,
      measures: { ...whole.measures, 'point-1/train': { ...measured(0.25), tasks: {} } },
    });
    for (const job of runJobs(piece(2, 'by these lines'), [])) {
      expect(job.product).toBe(join(dir, 'runs/full/2/run.json'));
      expect(() => job.check!()).not.toThrow();
    }
  });

  it('stay beside those that are published later, of the same arm and seed or of other settings aside', async () => {
    const file = join(dir, 'runs.ndjson');
    const published = () => {
      const lines = readFileSync(file, 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line)).map(({ seed, made }) => [seed, made]);
    };
    const stays = ({ made }: RunRecord) => made !== 'at 3e-4';
    await publishRuns(file, [run(1, 'at 1e-4'), run(2, 'at 1e-4'), run(3, 'at 3e-4')], { stays, points: [] });
    expect(published().length).toBe(3);
    await publishRuns(file, [run(2, 'at 1e-4, again')], { stays, points: [] });
    expect(published()).toEqual([
      [1, 'at 1e-4'],
      [2, 'at 1e-4, again'],
    ]);
  });

  it('need not be there', async () => {
    const said: string[] = [];
    await takePublished(
      publishedPath('nothing'),
      dir,
      () => true,
      (line) => said.push(line),
    );
    expect(said).toEqual(['no runs are published in docs/results/nothing.ndjson yet']);
  });

  it('stay out where they were made otherwise, and nothing of them is left in the folder', async () => {
    const file = join(dir, 'runs.ndjson');
    const made = ['by these lines', 'by other lines', 'by other lines'];
    const runs = made.map((text, index) => run(index + 1, text));
    await publishRuns(file, runs, { stays: () => true, points: [] });
    const said: string[] = [];
    const fits = (one: RunRecord) => one.made === 'by these lines';
    await takePublished(file, join(dir, 'runs'), fits, (line) => said.push(line));
    expect(said.map((line) => line.replace(/from .*\//, 'from '))).toEqual([
      '1 run taken from runs.ndjson; 2 left out: made with other settings or by other options',
    ]);
    expect(readdirSync(join(dir, 'runs/full'))).toEqual(['1']);
  });
});

const NO_KINDS = { never: new Set<string>(), easy: new Set<string>() };

describe('the runs in docs/results/ablation.ndjson', () => {
  it('were made with the settings of now, and are what the table in docs/results.md shows', async () => {
    const settings = settingsFrom({});
    const base = readBase(settings.base);
    const runs = await publishedRuns(publishedPath('ablation'));
    expect(runs.length).toBeGreaterThan(0);
    expect(runs.filter((run) => !isLadderRun(settings, base, run)).map(({ name, seed }) => [name, seed])).toEqual([]);
    const page = readFileSync(join(packageRoot(), 'docs/results.md'), 'utf8');
    for (const row of rowsAt(TIME_CUT, ARMS, runs, NO_KINDS, curvePoints(settings))) {
      const line = page.split('\n').find((text) => text.startsWith(`| ${row.arm.label} |`));
      const cells = line?.split('|').map((cell) => cell.trim());
      expect([cells?.[3], cells?.[4], cells?.[6]]).toEqual([
        ...[String(row.seeds), share(row.curve), gain(row.curveOverBaseline) ?? '–'],
      ]);
    }
  });

  it('are laid only where they are wanted: of other settings not one', async () => {
    const taken = async (env: Record<string, string>, folder: string) => {
      const settings = settingsFrom(env);
      const base = readBase(settings.base);
      const said: string[] = [];
      const fits = (one: RunRecord) => isLadderRun(settings, base, one);
      await takePublished(publishedPath('ablation'), join(dir, folder), fits, (line) => said.push(line));
      return said;
    };
    const count = (await publishedRuns(publishedPath('ablation'))).length;
    expect(await taken({}, 'same')).toEqual([`${count} runs taken from docs/results/ablation.ndjson`]);
    expect(await taken({ TRAIN_SECONDS: '5' }, 'other')).toEqual([
      `0 runs taken from docs/results/ablation.ndjson; ${count} left out: made with other settings or by other options`,
    ]);
    expect([existsSync(join(dir, 'same')), existsSync(join(dir, 'other'))]).toEqual([true, false]);
  });
});
