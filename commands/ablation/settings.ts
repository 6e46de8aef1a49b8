import { DartError } from '../../lib/errors.ts';
import { ARMS, type Arm } from './arms.ts';
import { type Environment, Variables } from './program.ts';
import { ABLATION } from './programs.ts';

/** What is run, from the environment: `make ablation SEEDS=2 TRAIN_SECONDS=60`. */
export interface Settings {
  /** Folder of the runs. */
  dir: string;
  /** The policy that every arm begins with. */
  base: string;
  /** Paired seeds, 1 to this. */
  seeds: number;
  /** The same wall-clock: seconds of training. */
  seconds: number;
  /** The same number of rollouts. */
  trajectories: number;
  /** A training that has not made so many rollouts by then ends. */
  limitSeconds: number;
  /** Points of the learning curve, the last at `seconds`. */
  points: number;
  /** Rollouts of a task where arms are compared, and at the other points of the curve. */
  repeats: number;
  pointRepeats: number;
  /** Rollouts of a task of the base policy for the conditions. */
  conditionRepeats: number;
  /** Only so many tasks in each evaluation, for trials; null: all. */
  sample: number | null;
  arms: readonly Arm[];
  /** Trainings at once: while one waits for its desktops another computes. */
  lanes: number;
}

/** Reads them. @throws DartError naming the variable that makes no sense */
export function settingsFrom(env: Environment): Settings {
  const variables = new Variables(ABLATION, env);
  const seconds = variables.number('TRAIN_SECONDS');
  return {
    dir: variables.folder('RUN_DIR'),
    base: variables.text('BASE'),
    seeds: variables.whole('SEEDS'),
    seconds,
    trajectories: variables.whole('TRAJECTORIES', Math.max(1, Math.round(seconds * 15))),
    limitSeconds: variables.number('LIMIT_SECONDS', 1.1 * seconds),
    points: variables.whole('POINTS'),
    repeats: variables.whole('REPEATS'),
    pointRepeats: variables.whole('POINT_REPEATS'),
    conditionRepeats: variables.whole('CONDITION_REPEATS'),
    sample: variables.wholeOrAll('EVAL_TASKS'),
    arms: chosenFrom(ARMS, variables),
    lanes: variables.whole('LANES'),
  };
}

/** The arms that ARMS names, all where it is not there. @throws DartError naming an arm that is none */
export function chosenFrom<A extends { name: string }>(arms: readonly A[], variables: Variables<'ARMS'>): readonly A[] {
  const known = arms.map(({ name }) => name);
  const names = variables.list('ARMS', known);
  if (names === undefined) return arms;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return arms.filter(({ name }) => names.includes(name));
  throw new DartError(`there is no arm ${unknown}`, { where: 'ARMS', hint: `ARMS=${known.join(',')}` });
}

/** That a report of these settings lacks something which only a run without `--report` makes. */
export function notMade(message: string, where: string): DartError {
  return new DartError(message, { where, hint: 'the settings of before, or without --report' });
}
