import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DartError } from '../../lib/errors.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { type Evaluation, readEvaluation } from './evaluations.ts';
import { evaluationFile, type Measure, measuredText, measureLine, removeOthers } from './measure.ts';
import { type Job, playJobs } from './queue.ts';
import { type Figures, runTraining, type TrainingEnd } from './run.ts';
import { lineOf, runLines } from './shell.ts';
import { pipelineLine, placesOf, type Training } from './training.ts';
import type { Moment } from './watch.ts';

/** A finished run as `run.json` has it. */
export interface RunRecord {
  name: string;
  seed: number;
  /** The lines that it was made by, without its folder, and what it was measured on. */
  made: string;
  cuts: Record<string, Moment>;
  figures: Figures;
  /** By cut and name of the measure: `time/train`. */
  measures: Record<string, Omit<Evaluation, 'tasks'> & { tasks: Record<string, number> }>;
  /** What else its report is made of: `Piece.details`. */
  details?: unknown;
}

/** Where a measure may let its screenshots lie; they go with the versions. */
export const EVALUATION_BLOBS = 'evaluation-blobs';

/** The kind of the jobs that evaluate. */
export const EVALUATION = 'evaluation';

/** An evaluation computes on one thread: two of them keep two cores busy. */
const EVALUATIONS_AT_ONCE = 2;

/** About what an asynchronous training makes on two cores, and how long an evaluation takes. */
const ROLLOUTS_PER_SECOND = 40;
const SECONDS_PER_ROLLOUT = 0.015;

/** Something that is trained and then measured. */
export interface Piece {
  name: string;
  dir: string;
  seed: number;
  /** What it is made with and by: another one is refused. */
  made: string;
  /** About how long it trains, and what it takes at least; those of one kind are quick or slow together. */
  seconds: number;
  atLeast?: number;
  kind?: string;
  /** Leaves a published folder `cuts/NAME` for each cut. */
  train: (stop?: AbortSignal) => Promise<TrainingEnd>;
  /** Read from its folder when it is evaluated, for a report that must do without the folder. */
  details?: () => Promise<unknown>;
}

/** An asynchronous training as a piece of work. */
export function trainingPiece(name: string, training: Training, say: (line: string) => void): Piece {
  const { dir, seed, cuts, limitSeconds } = training;
  const longest = Math.max(...cuts.map((cut) => cut.seconds ?? (cut.trajectories ?? 0) / ROLLOUTS_PER_SECOND));
  return {
    ...{ name, dir, seed, made: identityOf(training) },
    seconds: Math.min(limitSeconds, longest * 1.1) + 4,
    atLeast: Math.min(limitSeconds, Math.max(0, ...cuts.map((cut) => cut.seconds ?? 0))),
    train: async (stop) => {
      const end = await runTraining(training, stop, teller(say));
      if (end.figures.updates === 0) say(idleLine(name, seed));
      return end;
    },
  };
}

/** What is said of a training that has not learned: its figures look like any other's. */
export function idleLine(name: string, seed: number): string {
  return `${name}, seed ${seed}: no update was made in time; what is measured is the policy that it began with`;
}

/**
 * A training and its evaluations as two jobs: `training.json` says that the first is done, `run.json` both. An evaluation
 * whose file is there is not made again.
 */
export function runJobs(piece: Piece, measures: readonly Measure[]): Job[] {
  const { name, dir, seed, made } = piece;
  const { product, trained } = productsOf(dir);
  const title = `${name}, seed ${seed}`;
  const measured = measuredBy(piece, measures);
  const check = (path: string, what: string) => () => refuseOther(path, what);
  // A published run has no training.json.
  const training = existsSync(product) ? product : trained;
  return [
    {
      title: `${title}: training`,
      product: training,
      kind: piece.kind ?? 'training',
      seconds: piece.seconds,
      ...(piece.atLeast === undefined ? {} : { atLeast: piece.atLeast }),
      check: existsSync(product) ? check(product, measured) : check(trained, made),
      run: async (stop) => {
        const end = await piece.train(stop);
        await writeWhole(trained, `${JSON.stringify({ made, ...end }, null, 1)}\n`);
      },
    },
    {
      title: `${title}: evaluations`,
      product,
      kind: EVALUATION,
      after: training,
      seconds: 4 + measures.reduce((sum, measure) => sum + secondsOf(measure), 0),
      check: check(product, measured),
      run: async (stop) => {
        const { cuts, figures } = JSON.parse(readFileSync(trained, 'utf8'));
        const done = await evaluated(piece, measures, cuts, stop);
        const details = await piece.details?.();
        const record: RunRecord = { name, seed, made: measured, cuts, figures, measures: done, details };
        rmSync(join(dir, EVALUATION_BLOBS), { recursive: true, force: true });
        await keepPolicy(dir, measures, stop);
        await writeWhole(product, `${JSON.stringify(record, null, 1)}\n`);
        rmSync(placesOf(dir).cuts, { recursive: true, force: true });
      },
    },
  ];
}

/** True where nothing is left to train. */
export function isTrained({ dir }: Pick<Piece, 'dir'>): boolean {
  return Object.values(productsOf(dir)).some((path) => existsSync(path));
}

function productsOf(dir: string) {
  return { product: join(dir, 'run.json'), trained: join(dir, 'training.json') };
}

function secondsOf({ tasks, repeats }: Measure): number {
  return tasks.count * repeats * SECONDS_PER_ROLLOUT;
}

async function evaluated(
  { dir, seed }: Piece,
  measures: readonly Measure[],
  cuts: Record<string, Moment>,
  stop?: AbortSignal,
): Promise<RunRecord['measures']> {
  const there = measures.filter(({ cut }) => cuts[cut] !== undefined);
  const jobs = there.map((measure): Job => {
    const line = measureLine(measure, { dir }, join(placesOf(dir).cuts, measure.cut), seed);
    const product = evaluationFile(measure, { dir });
    const run = (ended?: AbortSignal) => {
      removeOthers(measure, { dir });
      return runLines([line], dir, ended);
    };
    return { title: measure.name, product, seconds: secondsOf(measure), run };
  });
  await playJobs(jobs, () => {}, { stop, lanes: EVALUATIONS_AT_ONCE });
  const all: RunRecord['measures'] = {};
  for (const measure of there) {
    const evaluation = await readEvaluation(evaluationFile(measure, { dir }));
    all[`${measure.cut}/${measure.name}`] = { ...evaluation, tasks: Object.fromEntries(evaluation.tasks) };
  }
  return all;
}

/**
 * Keeps the policy of the first cut that is measured as one file, unless it is kept already: then the versions may be half
 * removed.
 */
async function keepPolicy(dir: string, measures: readonly Measure[], stop?: AbortSignal): Promise<void> {
  const { cuts } = placesOf(dir);
  const policy = join(dir, 'policy.onnx');
  if (existsSync(policy)) return;
  const kept = measures.map(({ cut }) => join(cuts, cut)).find((path) => existsSync(path));
  if (kept === undefined) return;
  await runLines([lineOf('bin/dart-train', 'export', kept, '-o', policy, '--quiet')], dir, stop);
}

/** What a training is, wherever its folder lies. */
export function identityOf(training: Training): string {
  const cuts = JSON.stringify(training.cuts);
  return [training.base, ...training.before, pipelineLine(training), cuts].join('\n').replaceAll(training.dir, 'RUN');
}

/** What a finished run was made by and measured on, wherever its folder lies. */
function measuredBy({ made, dir }: Piece, measures: readonly Measure[]): string {
  return [made, ...measures.map((measure) => measuredText(measure, dir))].join('\n');
}

/** True for a run that this piece would be, whoever made it. */
export function isRunOf(run: RunRecord, piece: Piece, measures: readonly Measure[]): boolean {
  return run.made === measuredBy(piece, measures);
}

/**
 * The runs of these pieces that are finished. One that was made with other settings or measured in another way is left out,
 * and said to be: its figures are no neighbours of the others'.
 */
export function finishedRuns(
  pieces: readonly { piece: Piece; measures: readonly Measure[] }[],
  say: (line: string) => void,
): RunRecord[] {
  return pieces.flatMap(({ piece, measures }) => {
    const { product } = productsOf(piece.dir);
    if (!existsSync(product)) return [];
    const run: RunRecord = JSON.parse(readFileSync(product, 'utf8'));
    if (isRunOf(run, piece, measures)) return [run];
    say(
      `left out: ${piece.name}, seed ${piece.seed}: it was made with other settings or by other options (${product})`,
    );
    return [];
  });
}

function refuseOther(path: string, made: string): void {
  if (JSON.parse(readFileSync(path, 'utf8')).made === made) return;
  throw new DartError('this run was made with other settings or by other options', {
    where: path,
    hint: 'the settings of before; RUN_DIR=… for others; or remove its folder',
  });
}

/** Says every half minute how far a training is. */
function teller(say: (line: string) => void): (moment: Moment) => void {
  let next = 30;
  return ({ seconds, trajectories, version }) => {
    if (seconds < next) return;
    next += 30;
    say(`  ${Math.round(seconds)} s: ${trajectories} rollouts, ${version} updates`);
  };
}
