import { describe, expect, it } from 'vitest';
import type { RunRecord } from './job.ts';
import { curvePoints, type LadderRuns, ladderSection } from './ladder_report.ts';
import { NO_FIGURES } from './run.ts';
import { settingsFrom } from './settings.ts';

const settings = settingsFrom({
  SEEDS: '2',
  TRAIN_SECONDS: '60',
  POINTS: '2',
  ARMS: 'baseline,rollout-number,stale-no-tis',
});

const evaluation = (success: number) => ({
  success,
  coverage: 0.8,
  steps: 6,
  rollouts: 480,
  tasks: { never: success / 4 },
});

/** A run whose success was `early` halfway and `late` at the end; the cut by rollouts was not reached. */
function run(name: string, seed: number, early: number, late: number): RunRecord {
  const at = (seconds: number) => ({ seconds, trajectories: 40 * seconds, version: seconds });
  return {
    ...{ name, seed, made: '', cuts: { 'point-1': at(30), time: at(60) } },
    figures: { ...NO_FIGURES, rollouts_per_group: 6.5, steps_first: 12, steps_last: 5, staleness: 9.25, kept: 0.8 },
    measures: {
      'point-1/train': evaluation(early),
      'time/train': evaluation(late),
      'time/heldout': evaluation(late / 2),
    },
  };
}

const all: LadderRuns = {
  settings,
  runs: [
    ...[run('baseline', 1, 0.4, 0.5), run('baseline', 2, 0.4, 0.6)],
    ...[run('rollout-number', 1, 0.5, 0.6), run('rollout-number', 2, 0.5, 0.7)],
    ...[run('stale-no-tis', 1, 0.5, 0.1), run('stale-no-tis', 2, 0.4, 0.2)],
  ],
  base: {
    train: { ...evaluation(0.3), tasks: new Map([['never', 0]]) },
    heldout: { ...evaluation(0.1), tasks: new Map() },
  },
  kinds: { never: new Set(['never']), easy: new Set() },
};
const section = ladderSection(all);
const rowOf = (label: string, index: number) =>
  section.text.split('\n').filter((line) => line.startsWith(`| ${label} |`))[index];

describe('the section', () => {
  it('has the papers’ figure, success, and gains by seed beside each other', () => {
    expect(rowOf('decoupled baseline', 0)).toBe(
      '| decoupled baseline | 28.7% | 2 | 47.5% | – | – | 55.0% | – | 27.5% | – |',
    );
    expect(rowOf('+ dynamic rollout number', 0)).toBe(
      '| + dynamic rollout number | 50.9% | 2 | 57.5% | +10.0 pt (+10.0 pt … +10.0 pt) over “decoupled baseline” | +10.0 pt (+10.0 pt … +10.0 pt) | 65.0% | +10.0 pt (+10.0 pt … +10.0 pt) | 32.5% | +5.0 pt (+5.0 pt … +5.0 pt) |',
    );
  });

  it('leaves out what was not reached', () => {
    expect(rowOf('decoupled baseline', 1)).toBe('| decoupled baseline | 28.7% | 2 | – | – | – |');
  });

  it('says what each idea did, and where a run collapsed', () => {
    expect(rowOf('decoupled baseline', 3)).toBe(
      '| decoupled baseline | 40.0 | 60 | 6.5 | 12.0 → 5.0 | 80% | 9.3 | – | – | – | 80% | 11.0 |',
    );
    expect(rowOf('full without TIS, stale by 8 updates', 4)).toBe(
      '| full without TIS, stale by 8 updates | 15.0% | 30.0 pt | 40.0 pt | – |',
    );
  });

  it('says on which tasks the gain is', () => {
    expect(rowOf('+ dynamic rollout number', 2)).toBe(
      '| + dynamic rollout number | 16.2% | +2.5 pt (+2.5 pt … +2.5 pt) | – | – | – | – |',
    );
  });

  it('says whose figures stand in the column of the paper, and which rungs have no run', () => {
    expect(section.text).toContain('| DART’s Pass@1 |');
    expect(section.text).toContain('the paper’s own table of ablations, on 45 OSWorld tasks (arXiv 2509.23866)');
    expect(section.text).toContain('6 runs, 2 paired seeds.');
    const missing =
      'Rungs that were not run: “+ dynamic length”, “+ high-entropy steps”, “+ distribution alignment (TIS)”, “full: + experience pool, self-collected”.';
    expect(section.text.split(missing)).toHaveLength(3);
    const ladder = ['baseline', 'rollout-number', 'length', 'entropy', 'tis', 'full'];
    const whole = { ...all, settings: settingsFrom({}), runs: ladder.map((name) => run(name, 1, 0.4, 0.5)) };
    expect(ladderSection(whole).text).not.toContain('not run');
    expect(ladderSection(whole).text).toContain('6 runs, 1 paired seed.');
  });

  it('compares stale arms with fresh ones, where there are stale ones', () => {
    const [, stale] = section.text.split('### Stale rollouts');
    expect(stale!.match(/^\| [^|]+ \|/gm)).toEqual([
      ...['| decoupled baseline |', '| full without TIS, stale by 8 updates |'],
    ]);
    const fresh = ladderSection({ ...all, runs: all.runs.filter(({ name }) => name !== 'stale-no-tis') });
    expect(fresh.text).not.toContain('Stale rollouts');
    expect(fresh.text).toContain('### What each idea did');
  });

  it('marks what has not learned', () => {
    expect(section.text).not.toContain('†');
    const [first, ...others] = all.runs;
    const idle = { ...first!, cuts: { ...first!.cuts, time: { seconds: 60, trajectories: 40, version: 0 } } };
    const { text } = ladderSection({ ...all, runs: [idle, ...others] });
    expect(text).toContain('| decoupled baseline † | 28.7% | 2 | 47.5% |');
    expect(text).toContain('† Not one update by then: “decoupled baseline”, seed 1. What was measured is the policy');
    // The cut by rollouts was not reached: there is nothing to mark.
    expect(text).toContain('| decoupled baseline | 28.7% | 2 | – | – | – |');
  });

  it('says of a trial that it is one', () => {
    expect(section.text).not.toContain('A trial');
    const trial = ladderSection({ ...all, settings: { ...settings, sample: 4 } });
    expect(trial.text).toContain('A trial: only 4 tasks in each evaluation, drawn by its seed.');
  });

  it('draws a point for each cut of the curve, the base first', () => {
    expect(curvePoints(settings)).toEqual(['point-1', 'time']);
    const titles = [...section.pictures['ablation.svg']!.matchAll(/<title>(.*?)<\/title>/g)].map((match) => match[1]);
    expect(titles.slice(0, 3)).toEqual(['baseline: 0, 0.3', 'baseline: 30, 0.4', 'baseline: 60, 0.55']);
    expect(titles.length).toBe(9);
  });
});
