import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Task, Trajectory } from '../../../lib/stream/records.ts';
import type { RunRecord } from '../job.ts';
import { evaluationFile, measuredText } from '../measure.ts';
import { NO_FIGURES } from '../run.ts';
import { COMPARED, SELECTION } from './arms.ts';
import { cameBack, correctionsOf, sumOf } from './correction.ts';
import { type ArpoRun, readDetails, updatesIn } from './details.ts';
import { arpoSettingsFrom, sharedJob, sharedLine } from './pieces.ts';
import { arpoSection } from './report.ts';
import { isArpoRun, piecesOf } from './runs.ts';
import { CASE, splitOf, type TaskFiles, writeTaskFiles } from './tasks.ts';

const dir = mkdtempSync(join(tmpdir(), 'dart-arpo-'));
afterAll(() => rmSync(dir, { recursive: true }));

const task = (task_id: string) => ({ task_id }) as Task;

describe('the split', () => {
  const all = ['a', 'b', 'c', 'd', 'case'].map(task);

  it('draws from the selected, always with the case, and leaves no task out', () => {
    const { inDomain, outOfDomain } = splitOf(all, new Set(['a', 'b', 'c']), 3, 'case');
    const ids = inDomain.map(({ task_id }) => task_id);
    expect(ids).toContain('case');
    expect(ids).not.toContain('d');
    expect([...inDomain, ...outOfDomain].map(({ task_id }) => task_id).sort()).toEqual(['a', 'b', 'c', 'case', 'd']);
    expect(outOfDomain.length).toBe(2);
    expect(
      splitOf([...all].reverse(), new Set(['c', 'b', 'a']), 3, 'case')
        .inDomain.map((t) => t.task_id)
        .sort(),
    ).toEqual([...ids].sort());
  });

  it('says where too few were selected', () => {
    expect(() => splitOf(all, new Set(['a']), 3, 'case')).toThrow(
      expect.objectContaining({ where: 'IN_DOMAIN', message: 'only 2 tasks were selected, of 3 that are wanted' }),
    );
  });

  it('is by file: no task that is learned from is a held-out one', async () => {
    const selection = join(dir, 'selected.ndjson');
    const ids = ['chrome-join-gold', 'vlc-loop', 'os-run-date'];
    writeFileSync(selection, ids.map((id) => `${JSON.stringify({ type: 'task', v: 1, task_id: id })}\n`).join(''));
    const files = await writeTaskFiles(dir, selection, 3);
    const idsIn = (path: string) =>
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).task_id);
    const [inside, outside] = [idsIn(files['in-domain'].path), idsIn(files['out-of-domain'].path)];
    expect([inside.length, outside.length, files.selected.count]).toEqual([3, 57, 3]);
    const names = `${idsIn(files.selected.path).join(' ')}\n${inside.join(' ')}`;
    expect(files.digest).toBe(createHash('sha256').update(names).digest('hex'));
    expect(inside).toContain(CASE);
    expect(files.heldout.path).toBe('fixtures/tasks/heldout');
    expect(outside.some((id) => inside.includes(id))).toBe(false);
  });
});

/** An episode with these screens. */
const episode = (screens: string, reward: number | null) => ({
  steps: [...screens].map((sha256) => ({ observation: { screenshot: { sha256 } } })) as Trajectory['steps'],
  reward,
});

describe('self-correction', () => {
  it('is a screen that was left and is there again', () => {
    expect(['abc', 'aab', 'aba', 'abba', 'abbb'].map((screens) => cameBack(episode(screens, 0)))).toEqual([
      ...[false, false, true, true, false],
    ]);
  });

  it('counts those that came back and then succeeded', () => {
    const all = [episode('aba', 1), episode('aba', 0), episode('ab', 1), episode('ab', null)];
    const one = correctionsOf(all);
    expect(one).toEqual({ rollouts: 3, successes: 2, returned: 2, corrected: 1 });
    expect(sumOf([one, one])).toEqual({ rollouts: 6, successes: 4, returned: 4, corrected: 2 });
  });
});

describe('the shared rollouts', () => {
  const settings = arpoSettingsFrom({ RUN_DIR: dir, TRAJECTORIES: '4' });
  const lines = (type: string, ids: readonly string[]) =>
    ids.map((task_id) => `${JSON.stringify({ type, v: 1, task_id })}\n`).join('');

  it('are of as many desktops as those of the online arms: groups of 8, each on another one', () => {
    const lineFor = (trajectories: string, count: number) => {
      const files = { 'in-domain': { path: 'tasks.ndjson', count } } as TaskFiles;
      return sharedLine(arpoSettingsFrom({ RUN_DIR: dir, TRAJECTORIES: trajectories }), 1, base, files);
    };
    const base = { path: 'base.onnx', sha256: 'f00' };
    expect(lineFor('4096', 32)).toContain(' -n 8 --epochs 16 ');
    expect(lineFor('1000', 32)).toContain(' -n 8 --epochs 4 ');
    expect(lineFor('16', 12)).toContain(' -n 2 --epochs 1 ');
  });

  it('are those of the tasks that are learned from, or refused', async () => {
    const path = join(dir, 'learned.ndjson');
    const files = { 'in-domain': { path, count: 2 } } as TaskFiles;
    const job = sharedJob(settings, 1, { path: 'base.onnx', sha256: 'f00' }, files);
    mkdirSync(dirname(job.product), { recursive: true });
    writeFileSync(path, lines('task', ['a', 'b']));
    writeFileSync(job.product, lines('trajectory', ['b', 'a', 'a', 'b']));
    await job.check!();
    for (const others of [
      ['a', 'a', 'a', 'a'],
      ['a', 'b', 'c'],
      ['a', 'c'],
    ]) {
      writeFileSync(job.product, lines('trajectory', others));
      await expect(job.check!()).rejects.toThrow('these rollouts are of other tasks than those that are learned from');
    }
  });
});

describe('a run', () => {
  const digest = 'd1935';
  const filesOf = (folder: string): TaskFiles => ({
    'in-domain': { path: join(folder, 'tasks/in-domain.ndjson'), count: 32 },
    'out-of-domain': { path: join(folder, 'tasks/out-of-domain.ndjson'), count: 28 },
    selected: { path: join(folder, 'tasks/selected.ndjson'), count: 40 },
    all: { path: 'fixtures/tasks/embedded', count: 60 },
    heldout: { path: 'fixtures/tasks/heldout', count: 60 },
    digest,
  });
  /** Of seed 2: what each arm is in a folder, as a run that was made there says it. */
  const runsIn = (folder: string, env: Record<string, string> = {}, base = { path: 'base.onnx', sha256: 'f00' }) => {
    const settings = arpoSettingsFrom({ RUN_DIR: folder, SEEDS: '2', ...env });
    const given = { base, tasks: filesOf(settings.dir) };
    const runs = piecesOf(settings, given, () => {})
      .filter(({ piece }) => piece.seed === 2)
      .map(({ piece: { name, seed, made }, measures }): RunRecord => {
        const text = [made, ...measures.map((measure) => measuredText(measure, folder))].join('\n');
        return { name, seed, made: text, cuts: {}, figures: NO_FIGURES, measures: {} };
      });
    return { settings, given, runs };
  };
  const here = runsIn('runs/arpo');

  it('is told alike in every folder, by names that are of none', () => {
    expect(here.runs.map(({ name }) => name).sort()).toEqual(
      [...COMPARED, ...SELECTION].map(({ name }) => name).sort(),
    );
    const folders = ['runs/arpo/', './runs//arpo', 'runs/other', '/tmp/a b', '.', 'RUN', 'a', 'arpo'];
    for (const folder of folders) {
      const there = runsIn(folder, {}, { path: 'elsewhere/base.onnx', sha256: 'f00' });
      expect([folder, there.runs]).toEqual([folder, here.runs]);
      expect(there.runs.filter((run) => !isArpoRun(here.settings, here.given, run))).toEqual([]);
    }
    const textOf = (name: string) => here.runs.find((run) => run.name === name)!.made;
    for (const { made } of here.runs) expect(made).not.toMatch(/runs\/|base\.onnx/);
    expect(textOf('arpo')).toContain('bin/dart-rollout --tasks RUN/tasks/in-domain.ndjson');
    expect(textOf('arpo')).toContain('"path":"RUN/tasks/out-of-domain.ndjson","count":28');
    expect(textOf('kto')).toContain(' RUN/shared/f00/2/rollouts-4096-of-8.ndjson ');
    expect(textOf('kto')).toContain('--policy onnx:BASE ');
    expect(textOf('kto')).toContain(`\n${digest}\n`);
  });

  it('is another of other settings, tasks, seed or base', () => {
    const fits = (run: RunRecord) => isArpoRun(here.settings, here.given, run);
    const kto = here.runs.find(({ name }) => name === 'kto')!;
    expect([kto, { ...kto, seed: 1 }, { ...kto, name: 'dpo' }, { ...kto, name: 'none' }].map(fits)).toEqual([
      ...[true, false, false, false],
    ]);
    const others = (env: Record<string, string>, base?: { path: string; sha256: string }) =>
      runsIn('runs/arpo', env, base).runs.filter(({ name }) => ['kto', 'arpo'].includes(name));
    const all = [
      others({ TRAJECTORIES: '8' }),
      others({ REPEATS: '3' }),
      others({}, { path: 'base.onnx', sha256: 'f01' }),
    ];
    expect(all.flat().map(fits)).toEqual(Array.from({ length: 6 }, () => false));
    expect(isArpoRun(here.settings, { ...here.given, tasks: { ...here.given.tasks, digest: 'other' } }, kto)).toBe(
      false,
    );
  });

  it('is estimated by what its method takes, and by no more than its limit', () => {
    const secondsOf = (env: Record<string, string>) => {
      const { settings, given } = runsIn('runs/arpo', { SEEDS: '1', TRAJECTORIES: '1000', ...env });
      const trainings = piecesOf(settings, given, () => {}).map(({ piece }) => [piece.name, piece.seconds]);
      return Object.fromEntries(trainings);
    };
    expect(secondsOf({})).toMatchObject({ base: 2, 'reject-sampling': 20, dpo: 50, kto: 90 });
    expect(secondsOf({ OFFLINE_SECONDS: '60' })).toMatchObject({ 'reject-sampling': 20, dpo: 50, kto: 60 });
  });

  it('has its measures in files of one name in every folder', () => {
    const namesIn = (folder: string) => {
      const { settings, given } = runsIn(folder);
      return piecesOf(settings, given, () => {}).flatMap(({ piece: { dir: own }, measures }) =>
        measures.map((measure) => basename(evaluationFile(measure, { dir: own }))),
      );
    };
    expect(namesIn('runs/other')).toEqual(namesIn('runs/arpo'));
    expect(namesIn('runs/arpo')[0]).toMatch(/^eval-rollouts-in-domain-standard\.8xall-[0-9a-f]{8}\.ndjson$/);
  });
});

describe('the updates of a run', () => {
  it('are counted in the records of its trainer', async () => {
    const folder = join(dir, 'trained');
    mkdirSync(folder);
    expect(await updatesIn(folder)).toBeNull();
    const records = [
      ...[1, 2].flatMap((step) =>
        ['train/loss', 'train/lr'].map((name) => ({ type: 'metric', v: 1, name, step, value: 1 })),
      ),
      { type: 'summary', v: 1, command: 'dart-train' },
    ];
    const file = join(folder, 'train.ndjson');
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    expect(await updatesIn(folder)).toBe(2);
    writeFileSync(file, `${JSON.stringify(records.at(-1))}\n`);
    expect(await updatesIn(folder)).toBe(0);
  });
});

describe('the details of a run', () => {
  it('are read from its folder: the curve of its rollouts, and its corrections', async () => {
    const rewards = [0, 1, 1, 1, 0, 0, 0, 0];
    const lines = rewards.map((reward, index) => JSON.stringify({ group: `g${index >> 1}`, task: 'a', reward }));
    writeFileSync(join(dir, 'rollouts.ndjson'), lines.join('\n'));
    writeFileSync(join(dir, 'case.ndjson'), `${JSON.stringify({ type: 'trajectory', v: 1, ...episode('aba', 1) })}\n`);
    const { stretches, corrections } = await readDetails(dir, 8);
    expect(stretches.map(({ rollouts, reward }) => [rollouts, reward])).toEqual(
      rewards.map((reward, index) => [index + 1, reward]),
    );
    expect(corrections).toEqual({ rollouts: 1, successes: 1, returned: 1, corrected: 1 });
    const nothing = { stretches: [], corrections: null, updates: null };
    expect(await readDetails(join(dir, 'nowhere'), 8)).toEqual(nothing);
  });
});

describe('the section', () => {
  const run = (name: string, success: number, more: Partial<ArpoRun['details']> = {}): ArpoRun => {
    const evaluation = { success, coverage: 1, steps: 3, rollouts: 8, tasks: {} };
    const measures = { 'rollouts/in-domain-hard': evaluation, 'rollouts/in-domain-standard': evaluation };
    const corrections = { rollouts: 64, successes: 16, returned: 8, corrected: 2 };
    const details = { stretches: [], corrections: name === 'kto' ? corrections : null, ...more };
    return { name, seed: 1, made: '', cuts: {}, figures: NO_FIGURES, measures, details };
  };
  const settings = arpoSettingsFrom({ RUN_DIR: dir, TRAJECTORIES: '16' });

  it('has each arm that ran, its gain over the base, and its corrections', () => {
    const { text } = arpoSection(settings, [run('base', 0.25), run('kto', 0.375)], 40);
    expect(text).toContain('| KTO | – / – | – / – | 24.6% | 1 | 37.5% | 37.5% | – | – | – | – |');
    expect(text).toContain('| KTO over base | +12.5 pt | – | – |');
    expect(text).toContain('| KTO | 25% (16 of 64) | – | 13% (8 of 64) | 25% (2 of 8) |');
    expect(text).not.toContain('GRPO over');
  });

  it('has the parts whose arms ran, and names the arms that did not', () => {
    const stretch = { rollouts: 8, reward: 0.5, spread: 0.25, varied: 1 };
    const none = arpoSection(settings, [run('base', 0.25), run('kto', 0.375)], 40);
    expect(none.text).toContain(
      'Arms that were not run: “reject sampling”, “DPO”, “GRPO”, “ARPO: with replay”, “ARPO on the selected tasks”, “ARPO on all tasks”.',
    );
    expect(none.text).not.toMatch(/### (Replay|Task selection)/);
    expect(none.pictures).toEqual({});
    const both = [run('grpo', 0.5, { stretches: [stretch] }), run('all', 0.5, { stretches: [stretch] })];
    const { text, pictures } = arpoSection(settings, both, 40);
    expect(text.match(/^### .*/gm)).toEqual(['### Replay', '### Task selection']);
    expect(text).toContain(
      '| rollouts | ARPO: with replay, reward | spread in groups | groups that vary | GRPO, reward |',
    );
    expect(text).toContain('| 8 | – | – | – | 0.50 | 0.25 | 1.00 |');
    expect(text).not.toContain('the whole training');
    expect(Object.keys(pictures)).toEqual(['arpo-replay.svg', 'arpo-selection.svg']);
  });

  it('compares what differs in one idea by seed: the rollouts of training, the case, and the selection', () => {
    const stretches = (...rewards: number[]) =>
      rewards.map((reward, index) => ({ rollouts: 8 * index, reward, spread: 0.25, varied: reward }));
    const solved = (successes: number) => ({ rollouts: 64, successes, returned: 8, corrected: 2 });
    const all = (success: number) => ({ 'rollouts/all': { success, coverage: 1, steps: 3, rollouts: 8, tasks: {} } });
    const runs = [
      run('base', 0.25, { corrections: solved(16) }),
      run('grpo', 0.5, { stretches: stretches(0.25, 0.5), corrections: solved(32) }),
      run('arpo', 0.625, { stretches: stretches(0.25, 0.75) }),
      { ...run('selected', 0.5), measures: all(0.5) },
      { ...run('all', 0.5), measures: all(0.625) },
    ];
    const { text } = arpoSection(settings, runs, 40);
    expect(text).toContain('| ARPO: with replay over GRPO | +12.5 pt | – | – |');
    expect(text).toContain('| ARPO: with replay over GRPO | reward | spread in groups | groups that vary |');
    expect(text).toContain('| the whole training | +0.13 | +0.00 | +0.13 |');
    expect(text).toContain('| its second half | +0.25 | +0.00 | +0.25 |');
    expect(text).toContain('| GRPO | 50% (32 of 64) | +25.0 pt | 13% (8 of 64) | 25% (2 of 8) |');
    expect(text).toContain('| the first over the second | – | −12.5 pt | – |');
  });

  it('names the runs that ended by their limit, with less learned than others', () => {
    const ended = (name: string, seconds: number, trajectories: number) => ({
      ...run(name, 0.5),
      cuts: { rollouts: { seconds, trajectories, version: 1 } },
    });
    const early = [ended('base', 700, 16), ended('dpo', 601, 16), ended('kto', 599, 16), ended('arpo', 601, 15)];
    expect(arpoSection(settings, early, 40).text).toContain(
      'Ended by their limit of seconds before they had learned from all rollouts: “DPO”, seed 1; “ARPO: with replay”, seed 1.',
    );
    expect(arpoSection(settings, [ended('grpo', 900, 16)], 40).text).not.toContain('Ended by their limit');
  });

  it('marks what has not learned: not the base, nor a run of which that is not known', () => {
    const runs = [run('base', 0.25, { updates: null }), run('dpo', 0.25), run('kto', 0.375, { updates: 0 })];
    const { text } = arpoSection(settings, runs, 40);
    expect(text).toContain('| KTO † | – / – |');
    expect(text).toContain('† Not one update: “KTO”, seed 1. What was measured');
    expect(text).toMatch(/\| base \|.*\n\| DPO \|/);
  });
});
