import { describe, expect, it } from 'vitest';
import { ARMS, armNamed } from './arms.ts';
import { curveMean, fallOf, idleAt, meanOf, pairedBySeed, rowsAt } from './compare.ts';
import type { RunRecord } from './job.ts';

/** A run with this success at the cut `time`, half of it on held-out tasks. */
function run(name: string, seed: number, success: number, more: RunRecord['measures'] = {}): RunRecord {
  const evaluation = {
    success,
    coverage: 0.5,
    steps: 4,
    rollouts: 10,
    tasks: { never: 0.125, always: success, often: 1, seldom: success / 4 },
  };
  return {
    ...{ name, seed, made: '', cuts: {}, figures: {} as RunRecord['figures'] },
    measures: { 'time/train': evaluation, 'time/heldout': { ...evaluation, success: success / 2 }, ...more },
  };
}

/** What the base policy makes of the tasks. */
const KINDS = { never: new Set(['never']), easy: new Set(['always', 'often']) };

const runs = [
  ...[run('baseline', 1, 0.5), run('baseline', 2, 0.6), run('baseline', 3, 0.4)],
  ...[run('rollout-number', 1, 0.6), run('rollout-number', 2, 0.7)],
  ...[run('length', 1, 0.7), run('length', 2, 0.9)],
];

describe('rowsAt', () => {
  const rows = rowsAt('time', ARMS, runs, KINDS);

  it('has a row for each arm that ran, lowest rung first', () => {
    expect(rows.map(({ arm, seeds }) => [arm.name, seeds])).toEqual([
      ...[
        ['baseline', 3],
        ['rollout-number', 2],
        ['length', 2],
      ],
    ]);
    expect(rows[0]).toMatchObject({ success: 0.5, heldout: 0.25, overRung: null, overBaseline: null });
    expect(rows[0]!.byKind.never).toEqual({ success: 0.125, overBaseline: null });
    expect(rows[0]!.stepsPerSuccess).toBeCloseTo((4 / 0.5 + 4 / 0.6 + 4 / 0.4) / 3);
  });

  it('pairs by seed: differences of 0.1 and 0.1, of 0.1 and 0.2, of 0.2 and 0.3', () => {
    const [, second, third] = rows;
    expect(second!.overRung!.value).toBeCloseTo(0.1);
    expect(second!.overRung!.low).toBeCloseTo(0.1);
    expect(third!.overRung!.value).toBeCloseTo(0.15);
    // Standard error 0.05, t of one degree 12.7062.
    expect(third!.overRung!.high).toBeCloseTo(0.15 + 0.05 * 12.7062, 4);
    expect(third!.overBaseline).toMatchObject({ pairs: 2 });
    expect(third!.heldoutOverBaseline!.value).toBeCloseTo(0.125);
  });

  it('tells apart the tasks that the base never solves, its easy ones and the others', () => {
    // Easy: (0.6 + 1) / 2 and (0.7 + 1) / 2; between: 0.6 / 4 and 0.7 / 4; each is 0.1 above the baseline's success.
    const { never, between, easy } = rows[1]!.byKind;
    expect([never.success, never.overBaseline!.value]).toEqual([0.125, 0]);
    expect(easy.success).toBeCloseTo(0.825);
    expect(easy.overBaseline!.value).toBeCloseTo(0.05);
    expect(between.success).toBeCloseTo(0.1625);
    expect(between.overBaseline!.value).toBeCloseTo(0.025);
  });

  it('says nothing where a cut was not reached', () => {
    const [, second] = rowsAt('rollouts', ARMS, runs, KINDS);
    expect(second).toMatchObject({ success: null, overRung: null });
    expect(second!.byKind.never).toEqual({ success: null, overBaseline: null });
  });
});

describe('comparisons', () => {
  it('find no pair where no seed has both', () => {
    expect(pairedBySeed([run('full', 9, 1)], runs, 'baseline', () => 1)).toBeNull();
  });

  it('measure a collapse from the best point of the curve', () => {
    const at = (success: number) => run('', 1, success).measures['time/train']!;
    const collapsed = run('full', 1, 0.2, { 'a/train': at(0.3), 'b/train': at(0.7) });
    expect(fallOf(collapsed, ['a', 'b', 'time'])).toBeCloseTo(0.5);
    expect(fallOf(run('full', 1, 0.2), ['time'])).toBe(0);
    expect(fallOf(run('full', 1, 0.2), ['a'])).toBeNull();
  });

  it('know runs that had not learned by a cut', () => {
    const at = (version: number) => ({ time: { seconds: 60, trajectories: 9, version } });
    const [idle, busy] = [
      { ...runs[0]!, cuts: at(0) },
      { ...runs[1]!, cuts: at(1) },
    ];
    expect(idleAt([idle, busy, runs[2]!], 'time')).toEqual([idle]);
  });

  it('take the mean of the learning curve where all of it is known', () => {
    const at = (success: number) => run('', 1, success).measures['time/train']!;
    const [slow, quick] = [0.3, 0.6].map((early, index) =>
      run(['baseline', 'full'][index]!, 1, 0.6, { 'a/train': at(early) }),
    );
    expect(curveMean(slow!, ['a', 'time'])).toBeCloseTo(0.45);
    expect(curveMean(slow!, ['a', 'b', 'time'])).toBeNull();
    const [, full] = rowsAt('time', ARMS, [slow!, quick!], KINDS, ['a', 'time']);
    expect(full!.curve).toBeCloseTo(0.6);
    expect(full!.curveOverBaseline!.value).toBeCloseTo(0.15);
    expect(full!.overBaseline!.value).toBe(0);
  });

  it('take means of what is known', () => {
    expect([meanOf([1, null, 2]), meanOf([null])]).toEqual([1.5, null]);
  });
});

describe('the arms', () => {
  it('are each compared with one that is there, and the ladder turns one thing on at a time', () => {
    for (const { against } of ARMS) if (against !== null) expect(armNamed(against)).not.toBeNull();
    const off = (name: string) => {
      const { rollout, curate, train } = armNamed(name)!;
      return [...rollout, ...curate, ...train].filter((word) => word.startsWith('--'));
    };
    const ladder = ['baseline', 'rollout-number', 'length', 'entropy', 'tis', 'full'];
    expect(ladder.map((name) => off(name).length)).toEqual([5, 4, 3, 2, 1, 0]);
    for (const [index, name] of ladder.entries())
      for (const option of off(name)) if (index > 0) expect(off(ladder[index - 1]!)).toContain(option);
    expect(off('stale-no-tis').filter((option) => !off('stale-tis').includes(option))).toEqual(['--no-tis']);
  });
});
