import { type PairedMean, pairedMean } from '../../lib/report/paired.ts';
import type { Arm } from './arms.ts';
import type { RunRecord } from './job.ts';

/** What the base policy makes of a task: it never solves it, now and then, or in 60% of the rollouts and more. */
export type Kind = 'never' | 'between' | 'easy';

export const KINDS: readonly Kind[] = ['never', 'between', 'easy'];

/** The tasks that the base policy never solves, and its easy ones. */
export interface TaskKinds {
  never: ReadonlySet<string>;
  easy: ReadonlySet<string>;
}

/** Success on the training tasks of one kind. */
export interface KindFigures {
  success: number | null;
  overBaseline: PairedMean | null;
}

/** One row: an arm at one cut, over its seeds. */
export interface ArmRow {
  arm: Arm;
  seeds: number;
  /** Success on the training tasks and on the held-out variants, mean over the seeds; null where not measured. */
  success: number | null;
  heldout: number | null;
  coverage: number | null;
  byKind: Readonly<Record<Kind, KindFigures>>;
  /** Steps of all evaluated rollouts for each one that succeeds. */
  stepsPerSuccess: number | null;
  /** Success on the training tasks, mean over the points of the curve. */
  curve: number | null;
  /** Paired differences by seed. */
  overRung: PairedMean | null;
  overBaseline: PairedMean | null;
  heldoutOverBaseline: PairedMean | null;
  curveOverRung: PairedMean | null;
  curveOverBaseline: PairedMean | null;
}

type Figure = (run: RunRecord, cut: string) => number | null;

const success =
  (name: string): Figure =>
  (run, cut) =>
    run.measures[`${cut}/${name}`]?.success ?? null;

/**
 * The arms at a cut, in the order of the table.
 * @param kinds what the base policy makes of the tasks
 * @param points the cuts of the learning curve
 */
export function rowsAt(
  cut: string,
  arms: readonly Arm[],
  runs: readonly RunRecord[],
  kinds: TaskKinds,
  points: readonly string[] = [],
): ArmRow[] {
  return arms.flatMap((arm) => {
    const own = runs.filter((run) => run.name === arm.name);
    if (own.length === 0) return [];
    const mean = (figure: Figure) => meanOf(own.map((run) => figure(run, cut)));
    const curve = (run: RunRecord) => curveMean(run, points);
    const over = (other: string | null, figure: Figure) =>
      other === null || other === arm.name ? null : pairedBySeed(own, runs, other, (run) => figure(run, cut));
    return [
      {
        arm,
        seeds: own.length,
        success: mean(success('train')),
        heldout: mean(success('heldout')),
        coverage: mean((run) => run.measures[`${cut}/train`]?.coverage ?? null),
        byKind: byKind((kind) => {
          const figure: Figure = (run) => successOn(run.measures[`${cut}/train`]?.tasks, kind, kinds);
          return { success: mean(figure), overBaseline: over('baseline', figure) };
        }),
        stepsPerSuccess: mean((run) => stepsPerSuccess(run.measures[`${cut}/train`])),
        curve: mean(curve),
        overRung: over(arm.against, success('train')),
        overBaseline: over('baseline', success('train')),
        heldoutOverBaseline: over('baseline', success('heldout')),
        curveOverRung: over(arm.against, curve),
        curveOverBaseline: over('baseline', curve),
      },
    ];
  });
}

/** Differences of a figure between runs of the same seed; null where no seed has both. */
export function pairedBySeed<R extends RunRecord>(
  own: readonly R[],
  runs: readonly R[],
  other: string,
  figure: (run: R) => number | null,
): PairedMean | null {
  const differences = own.flatMap((run) => {
    const pair = runs.find(({ name, seed }) => name === other && seed === run.seed);
    const [a, b] = [pair === undefined ? null : figure(pair), figure(run)];
    return a === null || b === null ? [] : [b - a];
  });
  return differences.length > 0 ? pairedMean(differences) : null;
}

/**
 * Success on the training tasks, mean over the points of the learning curve, which lie at equal distances: a policy goes up
 * and down by five points from one version to the next, and this asks many of them. Null where a point is not there.
 */
export function curveMean(run: RunRecord, points: readonly string[]): number | null {
  const values = points.map((point) => run.measures[`${point}/train`]?.success ?? null);
  return values.includes(null) ? null : meanOf(values);
}

/** By how much the success at the last cut lies below the best point of the curve before: a collapse shows here. */
export function fallOf(run: RunRecord, points: readonly string[]): number | null {
  const values = points.map((point) => run.measures[`${point}/train`]?.success).filter((value) => value !== undefined);
  const last = values.at(-1);
  return last === undefined ? null : Math.max(...values) - last;
}

/** The runs that had not made one update by a cut: what was measured there is the policy that they began with. */
export function idleAt(runs: readonly RunRecord[], cut: string): RunRecord[] {
  return runs.filter((run) => run.cuts[cut]?.version === 0);
}

/** Mean of what is known; null where nothing is. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) / known.length : null;
}

function byKind<T>(figure: (kind: Kind) => T): Record<Kind, T> {
  return { never: figure('never'), between: figure('between'), easy: figure('easy') };
}

function successOn(tasks: Record<string, number> | undefined, kind: Kind, kinds: TaskKinds): number | null {
  if (tasks === undefined) return null;
  return meanOf(Object.entries(tasks).flatMap(([id, score]) => (kindOf(id, kinds) === kind ? [score] : [])));
}

function kindOf(id: string, { never, easy }: TaskKinds): Kind {
  if (never.has(id)) return 'never';
  return easy.has(id) ? 'easy' : 'between';
}

function stepsPerSuccess(evaluation: { steps: number; success: number } | undefined): number | null {
  return evaluation === undefined || evaluation.success === 0 ? null : evaluation.steps / evaluation.success;
}
