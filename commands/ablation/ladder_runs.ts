import { existsSync } from 'node:fs';
import { type Arm, armNamed } from './arms.ts';
import type { Conditions } from './conditions.ts';
import { readEvaluation, SUITES, type Suite } from './evaluations.ts';
import { EVALUATION, finishedRuns, isRunOf, type Piece, type RunRecord, runJobs, trainingPiece } from './job.ts';
import { curvePoints, type LadderRuns } from './ladder_report.ts';
import { evaluationFile, type Measure, measureLine, type Place } from './measure.ts';
import { type Base, ROLLOUTS_CUT, TIME_CUT, trainingOf } from './plan.ts';
import type { Job } from './queue.ts';
import { notMade, type Settings } from './settings.ts';
import { runLines } from './shell.ts';

/** Base evaluations, then seed by seed every arm, so that what is there at any time is paired. */
export function ladderJobs(settings: Settings, base: Base, say: (line: string) => void): Job[] {
  return [
    ...(['train', 'heldout'] as const).map((suite) => baseEvaluation(settings, base, suite)),
    ...ladderPieces(settings, base, say).flatMap(({ piece, measures }) => runJobs(piece, measures)),
  ];
}

/**
 * The finished runs of these settings and what their report needs besides.
 * @throws DartError where there is no run, or where the base policy was not evaluated so
 */
export async function ladderRuns(
  settings: Settings,
  base: Base,
  conditions: Conditions,
  say: (line: string) => void,
): Promise<LadderRuns> {
  const runs = finishedRuns(ladderPieces(settings, base, say), say);
  if (runs.length === 0) throw notMade('no run of these settings is finished', settings.dir);
  const evaluation = (suite: Suite) => {
    const path = evaluationFile(baseMeasure(settings, suite), placeOf(settings, base));
    if (existsSync(path)) return readEvaluation(path);
    throw notMade(`the base policy has not been evaluated on ${suite} with these settings`, path);
  };
  const evaluations = { train: await evaluation('train'), heldout: await evaluation('heldout') };
  const kinds = { never: new Set(conditions.zero), easy: new Set(conditions.easy) };
  return { settings, runs, base: evaluations, kinds };
}

/** True for a run that these settings would make, of whatever arm and seed. */
export function isLadderRun(settings: Settings, base: Base, run: RunRecord): boolean {
  const arm = armNamed(run.name);
  if (arm === null) return false;
  const { piece, measures } = ladderPiece(settings, arm, run.seed, base, () => {});
  return isRunOf(run, piece, measures);
}

interface LadderPiece {
  piece: Piece;
  measures: readonly Measure[];
}

function ladderPieces(settings: Settings, base: Base, say: (line: string) => void): LadderPiece[] {
  const seeds = Array.from({ length: settings.seeds }, (_, index) => index + 1);
  return seeds.flatMap((seed) => settings.arms.map((arm) => ladderPiece(settings, arm, seed, base, say)));
}

function ladderPiece(settings: Settings, arm: Arm, seed: number, base: Base, say: (line: string) => void): LadderPiece {
  return { piece: trainingPiece(arm.name, trainingOf(settings, arm, seed, base), say), measures: measuresOf(settings) };
}

/** Measures of the base policy lie in the folder of all runs. */
export function placeOf({ dir }: Settings, { sha256 }: Base): Place {
  return { dir, policy: sha256.slice(0, 8) };
}

function baseMeasure({ repeats, sample }: Settings, suite: Suite): Measure {
  return { cut: 'base', name: suite, tasks: tasksOf(suite, sample), repeats, sample };
}

function baseEvaluation(settings: Settings, base: Base, suite: Suite): Job {
  const measure = baseMeasure(settings, suite);
  const place = placeOf(settings, base);
  const product = evaluationFile(measure, place);
  const line = measureLine(measure, place, base.path, 1);
  const run = (stop?: AbortSignal) => runLines([line], product, stop);
  return { title: `the base policy on ${suite}`, product, kind: EVALUATION, seconds: 10, run };
}

const tasksOf = (suite: Suite, sample: number | null) => ({ path: SUITES[suite], count: sample ?? 60 });

/** The training tasks at both cuts where arms are compared and at the points of the curve, held-out ones at the end. */
function measuresOf(settings: Settings): Measure[] {
  const { sample } = settings;
  const at = (cut: string, name: Suite, repeats: number) => ({
    ...{ cut, name, tasks: tasksOf(name, sample), repeats, sample },
  });
  return [
    at(TIME_CUT, 'train', settings.repeats),
    at(TIME_CUT, 'heldout', settings.repeats),
    at(ROLLOUTS_CUT, 'train', settings.repeats),
    ...pointsBefore(settings).map((cut) => at(cut, 'train', settings.pointRepeats)),
  ];
}

/** The points of the curve before the end. */
export function pointsBefore(settings: Settings): string[] {
  return curvePoints(settings).filter((cut) => cut !== TIME_CUT);
}
