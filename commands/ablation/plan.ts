import { join } from 'node:path';
import type { Arm } from './arms.ts';
import { MAX_STEPS, SUITES } from './evaluations.ts';
import type { Settings } from './settings.ts';
import { lineOf } from './shell.ts';
import { type Cut, sharedOptions, type Training } from './training.ts';

/** β and aggregation are those of `make demo` (docs/log.md). */
export const TRAINER = ['--preset', 'dart', '--kl-beta', '0', '--aggregation', 'token-mean'] as const;

/**
 * What every arm has in common. An update takes eight groups, as DART's does: of a batch of so many steps an idea that saves
 * steps would make larger batches of groups and no more updates. A third of the demo's learning rate, so that the number of
 * updates is what limits the training, as it is for a large policy at 1e-6 (docs/log.md, docs/decisions.md).
 */
const COMMON = {
  rollout: ['-n', '8', '--max-steps', String(MAX_STEPS)],
  curate: ['--preset', 'dart', '--advantage-scope', 'step'],
  train: [...TRAINER, '--lr', '1e-4', '--batch-groups', '8'],
} as const;

/** The cuts at which the arms are compared. */
export const TIME_CUT = 'time';
export const ROLLOUTS_CUT = 'rollouts';

/**
 * Desktops that take their time, about fifteen times faster than real ones: a step of 120 ms with its variation, a reset of
 * two steps, an evaluation of one. So rollouts are what the training waits for, as in DART's table, where the GPUs of the
 * decoupled system are in use for 47% of the time: an idea that saves steps has something to save.
 */
const DESKTOPS = 'embedded:32,latency=120,reset=240,evaluate=120,jitter=0.5';

/** The policy that all arms begin with. */
export interface Base {
  path: string;
  sha256: string;
}

/** Where the training of an arm and a seed lies. */
export function dirOf({ dir }: Pick<Settings, 'dir'>, arm: Pick<Arm, 'name'>, seed: number): string {
  return join(dir, arm.name, String(seed));
}

/** The cuts of a training: the points of its curve, the wall-clock and the rollouts at which arms are compared. */
export function cutsOf({ seconds, points, trajectories }: Settings): Cut[] {
  const curve = Array.from({ length: points - 1 }, (_, index) => {
    const at = (seconds * (index + 1)) / points;
    return { name: `point-${index + 1}`, seconds: at };
  });
  return [...curve, { name: TIME_CUT, seconds }, { name: ROLLOUTS_CUT, trajectories }];
}

/** The training of one arm with one seed, from a base policy. */
export function trainingOf(settings: Settings, arm: Arm, seed: number, base: Base): Training {
  const dir = dirOf(settings, arm, seed);
  const options = {
    rollout: [...COMMON.rollout, ...arm.rollout],
    curate: [...COMMON.curate, ...arm.curate],
    train: [...COMMON.train, ...arm.train],
  };
  const policy = arm.experts === 'imitation' ? join(dir, 'imitated.onnx') : base.path;
  const before = expertLines(arm.experts, { dir, seed, base: base.path, policy });
  const { limitSeconds } = settings;
  const cuts = cutsOf(settings);
  const how = { desktops: DESKTOPS, seed, options, before, cuts, limitSeconds };
  return { dir, policy, base: base.sha256, tasks: SUITES.train, ...how };
}

/** Passes over the 60 demonstrations of the imitating arm. */
const IMITATION_EPOCHS = 8;

function expertLines(
  experts: Arm['experts'],
  { dir, seed, base, policy }: { dir: string; seed: number; base: string; policy: string },
): string[] {
  if (experts === undefined) return [];
  const demonstrations = join(dir, 'experts.ndjson');
  const shared = sharedOptions(dir);
  const blobs = shared.slice(2);
  const rollout = ['--tasks', SUITES.train, '--env', 'embedded:8', '--policy', 'script', '-n', '1', '--seed', seed];
  const made = lineOf('bin/dart-rollout', rollout, blobs, '-o', demonstrations, '--quiet');
  if (experts === 'pool')
    return [
      made,
      lineOf('bin/dart-curate', 'pool', 'add', demonstrations, shared, '-o', join(dir, 'pool.ndjson'), '--quiet'),
    ];
  const folder = join(dir, 'imitation');
  const sft = ['--objective', 'sft', '--policy', `onnx:${base}`, '--epochs', IMITATION_EPOCHS, '--lr', '3e-4'];
  const where = [
    '--device',
    'cpu',
    '--seed',
    seed,
    '--publish',
    folder,
    '-o',
    join(dir, 'imitation.ndjson'),
    '--quiet',
  ];
  return [
    made,
    lineOf('bin/dart-train', demonstrations, sft, blobs, where),
    lineOf('bin/dart-train', 'export', folder, '-o', policy, '--quiet'),
    lineOf('rm', '-rf', folder),
  ];
}
