import { join } from 'node:path';
import { DartError } from '../../lib/errors.ts';
import { ARMS, type Arm } from './arms.ts';

/** What is run, from the environment: `make ablation SEEDS=2 TRAIN_SECONDS=60`. */
export interface Settings {
  /** Folder of the runs. */
  dir: string;
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
  /** Only so many tasks in each evaluation, for trials; null: all. */
  sample: number | null;
  arms: readonly Arm[];
  /** Trainings at once: while one waits for its desktops another computes. */
  lanes: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads them. @throws DartError naming the variable that makes no sense */
export function settingsFrom(env: Environment): Settings {
  const seconds = numberOf(env, 'TRAIN_SECONDS', 480);
  return {
    dir: env.RUN_DIR || join('runs', 'ablation'),
    seeds: wholeOf(env, 'SEEDS', 5),
    seconds,
    trajectories: wholeOf(env, 'TRAJECTORIES', Math.max(1, Math.round(seconds * 15))),
    limitSeconds: numberOf(env, 'LIMIT_SECONDS', 1.1 * seconds),
    points: wholeOf(env, 'POINTS', 8),
    repeats: wholeOf(env, 'REPEATS', 8),
    pointRepeats: wholeOf(env, 'POINT_REPEATS', 4),
    sample: env.EVAL_TASKS ? wholeOf(env, 'EVAL_TASKS', 8) : null,
    arms: chosenFrom(ARMS, env.ARMS),
    lanes: wholeOf(env, 'LANES', 2),
  };
}

/** The arms that a variable names, all where it is not there. @throws DartError naming an arm that is none */
export function chosenFrom<A extends { name: string }>(arms: readonly A[], text: string | undefined): readonly A[] {
  if (!text) return arms;
  const names = text.split(/[\s,]+/).filter(Boolean);
  const unknown = names.find((name) => !arms.some((arm) => arm.name === name));
  if (unknown === undefined) return arms.filter((arm) => names.includes(arm.name));
  const hint = `ARMS=${arms.map((arm) => arm.name).join(',')}`;
  throw new DartError(`there is no arm ${unknown}`, { where: 'ARMS', hint });
}

/** A variable that is a number above 0. */
export function numberOf(env: Environment, name: string, otherwise: number): number {
  const text = env[name];
  if (text === undefined || text === '') return otherwise;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new DartError(`expected a number above 0, not ${text}`, { where: name, hint: `${name}=${otherwise}` });
}

/** A variable that is a whole number above 0. */
export function wholeOf(env: Environment, name: string, otherwise: number): number {
  const value = numberOf(env, name, otherwise);
  if (Number.isInteger(value)) return value;
  throw new DartError(`expected a whole number, not ${value}`, { where: name, hint: `${name}=${otherwise}` });
}
