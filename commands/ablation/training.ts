import { join } from 'node:path';
import { lineOf } from './shell.ts';

/** Options of the three commands that sample, curate and train. */
export interface CommandOptions {
  rollout: readonly string[];
  curate: readonly string[];
  train: readonly string[];
}

/** A moment of a training at which the newest version is kept to be evaluated: so many seconds, or so many rollouts. */
export interface Cut {
  name: string;
  seconds?: number;
  trajectories?: number;
}

/** One asynchronous training: three processes over pipes, one store, its own folder. */
export interface Training {
  /** Its folder, made anew. */
  dir: string;
  /** The `.onnx` file that it begins with. */
  policy: string;
  /** sha256 of the policy that this run and those it is compared with begin with. */
  base: string;
  /** `--tasks` of the rollouts. */
  tasks: string;
  /** `--env` of the rollouts. */
  desktops: string;
  seed: number;
  options: CommandOptions;
  /** Lines that come before it, with its store and blobs there: a pool that is filled, for example. */
  before: readonly string[];
  cuts: readonly Cut[];
  /** It ends when every cut is reached, or after so many seconds. */
  limitSeconds: number;
}

/** The name of the run in its store. */
export const RUN_ID = 'ablation';

/** Where the parts of a training lie. */
export function placesOf(dir: string) {
  return {
    store: `sqlite:${join(dir, 'dart.db')}`,
    database: join(dir, 'dart.db'),
    blobs: join(dir, 'blobs'),
    policy: join(dir, 'policy'),
    cuts: join(dir, 'cuts'),
    records: join(dir, 'train.ndjson'),
    trainerPid: join(dir, 'trainer.pid'),
  };
}

/** `--store … --blobs …` of a training. */
export function sharedOptions(dir: string): string[] {
  const { store, blobs } = placesOf(dir);
  return ['--store', store, '--blobs', blobs];
}

/** The line that publishes the base policy as version 0, so that rollouts can begin. */
export function publishLine({ dir, policy }: Pick<Training, 'dir' | 'policy'>): string {
  const { store, policy: folder } = placesOf(dir);
  return `${lineOf('bin/dart-train', '--policy', `onnx:${policy}`, '--publish', folder, '--store', store)} ${lineOf('--run-id', RUN_ID, '--max-updates', 0, '--device', 'cpu', '-o', join(dir, 'publish.ndjson'), '--quiet')} < /dev/null`;
}

/**
 * The three commands over pipes. What they share is here; what an arm adds comes last, so that the line shows it. The
 * trainer's process id is written down: ending it ends the others by their pipes.
 */
export function pipelineLine({ dir, tasks, desktops, seed, options, limitSeconds }: Training): string {
  const { policy, records, trainerPid } = placesOf(dir);
  const shared = sharedOptions(dir);
  const rollout = ['--tasks', tasks, '--env', desktops, '--policy', `onnx:${policy}`, '--follow'];
  const train = ['-', '--follow', '--publish', policy, '--run-id', RUN_ID, '--device', 'cpu', '--seed', seed];
  const trainer = lineOf('bin/dart-train', train, shared, '-o', records, '--quiet', options.train);
  return [
    lineOf(
      'bin/dart-rollout',
      rollout,
      '--run-id',
      RUN_ID,
      '--seed',
      seed,
      '--usage',
      1,
      shared,
      '--quiet',
      options.rollout,
    ),
    lineOf('bin/dart-curate', '-', '--follow', shared, '--quiet', options.curate),
    `(echo $BASHPID > ${lineOf(trainerPid)}; exec ${trainer} ${lineOf('--max-seconds', limitSeconds)})`,
  ].join(' \\\n| ');
}
