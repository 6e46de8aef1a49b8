import { curvesSvg } from '../../lib/report/curves.ts';
import { type PairedMean, pairedMean } from '../../lib/report/paired.ts';
import { type Arm, armNamed, LADDER } from './arms.ts';
import { type ArmRow, fallOf, idleAt, KINDS, type Kind, meanOf, rowsAt, type TaskKinds } from './compare.ts';
import type { Evaluation } from './evaluations.ts';
import type { RunRecord } from './job.ts';
import { cutsOf, ROLLOUTS_CUT, TIME_CUT } from './plan.ts';
import { counted, fixed, gain, IDLE, markdownTable, type Section, share, type Table } from './report.ts';
import type { Settings } from './settings.ts';

/** What the report is made of. */
export interface LadderRuns {
  settings: Settings;
  runs: readonly RunRecord[];
  /** The base policy on the training tasks and on the held-out variants. */
  base: { train: Evaluation; heldout: Evaluation };
  /** By the rollouts of the conditions. */
  kinds: TaskKinds;
}

/** The section `ablation` of docs/results.md. */
export function ladderSection(all: LadderRuns): Section {
  const { settings, runs, base } = all;
  const { seconds, trajectories, repeats, sample } = settings;
  const seeds = new Set(runs.map((run) => run.seed)).size;
  const text = [
    `${counted(runs.length, 'run')}, ${counted(seeds, 'paired seed')}. The base policy: ${share(base.train.success)} on the training tasks, ${share(base.heldout.success)} on the held-out variants. Each success is that of ${base.train.tasks.size} tasks × ${repeats} rollouts at temperature 1, on layouts that training never uses; the mean over the time is that of ${settings.points} points, ${settings.pointRepeats} rollouts a task at each but the last. Gains are means of differences between runs of the same seed, with Student's 95% interval over the seeds; *over another arm* says over which: the rung below, or what an arm beside the ladder is to be compared with. *DART’s Pass@1* is that of the rung in the paper’s own table of ablations, on 45 OSWorld tasks (arXiv 2509.23866).`,
    ...(sample === null ? [] : [`A trial: only ${sample} tasks in each evaluation, drawn by its seed.`]),
    `### The same wall-clock: ${seconds} s of training`,
    markdownTable(overTime(all)),
    ...notesOf(all, TIME_CUT),
    `### The same number of rollouts: ${trajectories}`,
    markdownTable(comparison(all)),
    ...notesOf(all, ROLLOUTS_CUT),
    '### Where the gain is',
    markdownTable(whereGained(all)),
    `Where the wall-clock is the same; tasks by what the base policy makes of them in the rollouts of the conditions.`,
    '### What each idea did',
    markdownTable(mechanisms(all)),
    `Up to the end of each run, which is where it had both the seconds and the rollouts; success where the wall-clock is the same.`,
    ...staleness(all),
    '![Learning curves](results/ablation.svg)',
  ].join('\n\n');
  return { name: 'ablation', text, pictures: { 'ablation.svg': curves(all) } };
}

/** What a table does not show: rungs without a run, and runs that did not learn. */
function notesOf({ runs }: LadderRuns, cut: string): string[] {
  const missing = LADDER.filter((name) => !runs.some((run) => run.name === name));
  const idle = idleAt(runs, cut).map(({ name, seed }) => `“${labelOf(name)}”, seed ${seed}`);
  return [
    ...(idle.length > 0
      ? [`${IDLE} Not one update by then: ${idle.join('; ')}. What was measured is the policy that it began with.`]
      : []),
    ...(missing.length > 0
      ? [`Rungs that were not run: ${missing.map((name) => `“${labelOf(name)}”`).join(', ')}.`]
      : []),
  ];
}

const labelOf = (name: string) => armNamed(name)?.label ?? name;

/** The name of an arm in a table, marked where one of its runs had not learned by the cut. */
function nameIn({ runs }: LadderRuns, cut: string, { name, label }: Arm): string {
  return idleAt(runs, cut).some((run) => run.name === name) ? `${label} ${IDLE}` : label;
}

/** The rows of the comparison at a cut. */
export function rowsOf({ settings, runs, kinds }: LadderRuns, cut: string): ArmRow[] {
  return rowsAt(cut, settings.arms, runs, kinds, curvePoints(settings));
}

/** The names of the cuts on the learning curve, in order of time. */
export function curvePoints(settings: Settings): string[] {
  return cutsOf(settings).flatMap((cut) => (cut.seconds === undefined ? [] : [cut.name]));
}

function overTime(all: LadderRuns): Table {
  return {
    head: [
      ...['', 'DART’s Pass@1', 'seeds', 'mean over the time', 'over another arm', 'over the baseline'],
      ...['at the end', 'over the baseline', 'held-out', 'over the baseline'],
    ],
    rows: rowsOf(all, TIME_CUT).map((row) => [
      ...labels(all, TIME_CUT, row),
      share(row.curve),
      overOther(row, row.curveOverRung),
      gain(row.curveOverBaseline),
      share(row.success),
      gain(row.overBaseline),
      share(row.heldout),
      gain(row.heldoutOverBaseline),
    ]),
  };
}

function comparison(all: LadderRuns): Table {
  return {
    head: ['', 'DART’s Pass@1', 'seeds', 'success', 'over another arm', 'over the baseline'],
    rows: rowsOf(all, ROLLOUTS_CUT).map((row) => [
      ...labels(all, ROLLOUTS_CUT, row),
      share(row.success),
      overOther(row, row.overRung),
      gain(row.overBaseline),
    ]),
  };
}

const KIND_HEADS: Readonly<Record<Kind, string>> = {
  never: 'tasks that the base never solves',
  between: 'tasks between',
  easy: 'tasks of 60% or more',
};

function whereGained(all: LadderRuns): Table {
  return {
    head: ['', ...KINDS.flatMap((kind) => [KIND_HEADS[kind], 'over the baseline'])],
    rows: rowsOf(all, TIME_CUT).map(({ arm, byKind }) => [
      nameIn(all, TIME_CUT, arm),
      ...KINDS.flatMap((kind) => [share(byKind[kind].success), gain(byKind[kind].overBaseline)]),
    ]),
  };
}

function labels(all: LadderRuns, cut: string, { arm, seeds }: ArmRow): (string | number | null)[] {
  return [nameIn(all, cut, arm), arm.paper === undefined ? null : `${arm.paper.toFixed(1)}%`, seeds];
}

function overOther({ arm }: ArmRow, difference: PairedMean | null): string | null {
  return difference === null ? null : `${gain(difference)} over “${labelOf(arm.against!)}”`;
}

function mechanisms(all: LadderRuns): Table {
  const { runs } = all;
  const of = (arm: Arm, figure: (run: RunRecord) => number | null) =>
    meanOf(runs.filter((run) => run.name === arm.name).map(figure));
  return {
    head: [
      ...['', 'rollouts a second', 'updates', 'rollouts a group', 'steps a rollout, first → last quarter'],
      ...['steps kept', 'staleness', 'nats off the policy', 'tokens with w cut', 'steps from the pool'],
      ...['tasks with a success', 'steps a success'],
    ],
    rows: rowsOf(all, TIME_CUT).map((row) => [
      nameIn(all, TIME_CUT, row.arm),
      fixed(of(row.arm, ({ cuts }) => (cuts[TIME_CUT] ? cuts[TIME_CUT].trajectories / cuts[TIME_CUT].seconds : null))),
      fixed(
        of(row.arm, ({ cuts }) => cuts[TIME_CUT]?.version ?? null),
        0,
      ),
      fixed(of(row.arm, ({ figures }) => figures.rollouts_per_group)),
      `${fixed(of(row.arm, ({ figures }) => figures.steps_first))} → ${fixed(of(row.arm, ({ figures }) => figures.steps_last))}`,
      share(
        of(row.arm, ({ figures }) => figures.kept),
        0,
      ),
      fixed(of(row.arm, ({ figures }) => figures.staleness)),
      fixed(
        of(row.arm, ({ figures }) => figures.logp_diff),
        2,
      ),
      share(
        of(row.arm, ({ figures }) => figures.tis_truncated),
        0,
      ),
      share(of(row.arm, ({ figures }) => figures.injected)),
      share(row.coverage, 0),
      fixed(row.stepsPerSuccess),
    ]),
  };
}

/** What staleness did, where an arm with it was run; beside it the baseline and what is the same without. */
function staleness(all: LadderRuns): string[] {
  if (!all.runs.some(({ name }) => isStale(name))) return [];
  const table = falls(
    all,
    all.settings.arms.filter(({ name }) => isStale(name) || name === 'baseline' || name === 'full'),
  );
  return [
    '### Stale rollouts',
    markdownTable(table),
    'A collapse is a success far below an earlier one of the same run.',
  ];
}

const isStale = (name: string) => name.startsWith('stale');

function falls({ settings, runs }: LadderRuns, arms: readonly Arm[]): Table {
  const points = curvePoints(settings);
  return {
    head: ['', 'success at the end', 'below its best point', 'most of a seed', 'nats a token at the end'],
    rows: arms.flatMap((arm) => {
      const own = runs.filter((run) => run.name === arm.name);
      const all = own.map((run) => fallOf(run, points)).filter((fall) => fall !== null);
      if (all.length === 0) return [];
      const last = meanOf(own.map((run) => run.measures[`${TIME_CUT}/train`]?.success ?? null));
      const entropy = meanOf(own.map(({ figures }) => figures.entropy_last));
      const points_ = (value: number | null) => (value === null ? null : `${(100 * value).toFixed(1)} pt`);
      return [[arm.label, share(last), points_(meanOf(all)), points_(Math.max(...all)), fixed(entropy, 2)]];
    }),
  };
}

function curves({ settings, runs, base }: LadderRuns): string {
  const points = curvePoints(settings);
  return curvesSvg({
    title: `Success on the training tasks, mean of the seeds with its 95% interval`,
    x: 'seconds of training',
    y: 'success',
    yMax: 1,
    curves: settings.arms.flatMap((arm) => {
      const own = runs.filter((run) => run.name === arm.name);
      if (own.length === 0) return [];
      const at = points.flatMap((point) => {
        const values = own.flatMap((run) => run.measures[`${point}/train`]?.success ?? []);
        if (values.length === 0) return [];
        const { value, low, high } = pairedMean(values);
        const seconds = meanOf(own.map((run) => run.cuts[point]?.seconds ?? null))!;
        return [{ x: Math.round(seconds), y: value, low, high }];
      });
      const dashed = arm.against !== null && (isStale(arm.name) || arm.experts !== undefined);
      return [{ name: arm.name, dashed, points: [{ x: 0, y: base.train.success }, ...at] }];
    }),
  });
}
