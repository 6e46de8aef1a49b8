import { createReadStream, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DartError } from '../../../lib/errors.ts';
import { readRecords } from '../../../lib/stream/reader.ts';
import type { Task, Trajectory } from '../../../lib/stream/records.ts';
import { identityOf, idleLine, type Piece, type RunRecord, trainingPiece } from '../job.ts';
import type { Base } from '../plan.ts';
import { type Environment, Variables } from '../program.ts';
import { ARPO } from '../programs.ts';
import type { Job } from '../queue.ts';
import { type Figures, NO_FIGURES } from '../run.ts';
import { chosenFrom } from '../settings.ts';
import { lineOf, runLines, wholeLine } from '../shell.ts';
import { placesOf, type Training } from '../training.ts';
import { type ArpoArm, COMPARED, SELECTION } from './arms.ts';
import { readDetails, updatesIn } from './details.ts';
import { type TaskFiles, taskFilesIn } from './tasks.ts';

/** What is run, from the environment. */
export interface ArpoSettings {
  dir: string;
  /** The policy that every arm begins with. */
  base: string;
  seeds: number;
  /** Rollouts that each arm learns from. */
  trajectories: number;
  /** An online arm that has not made so many by then ends. */
  limitSeconds: number;
  /** An arm that has not learned from the stored rollouts by then ends. */
  offlineSeconds: number;
  inDomain: number;
  /** Rollouts of each training task that tasks are selected by. */
  selectRollouts: number;
  repeats: number;
  /** Rollouts of the self-correction case. */
  caseRepeats: number;
  sample: number | null;
  arms: readonly ArpoArm[];
}

/** Reads them. @throws DartError naming the variable that makes no sense */
export function arpoSettingsFrom(env: Environment): ArpoSettings {
  const variables = new Variables(ARPO, env);
  return {
    dir: variables.folder('RUN_DIR'),
    base: variables.text('BASE'),
    seeds: variables.whole('SEEDS'),
    trajectories: variables.whole('TRAJECTORIES'),
    limitSeconds: variables.number('LIMIT_SECONDS'),
    offlineSeconds: variables.number('OFFLINE_SECONDS'),
    inDomain: variables.whole('IN_DOMAIN'),
    selectRollouts: variables.whole('SELECT_ROLLOUTS'),
    repeats: variables.whole('REPEATS'),
    caseRepeats: variables.whole('CASE_REPEATS'),
    sample: variables.wholeOrAll('EVAL_TASKS'),
    arms: chosenFrom([...COMPARED, ...SELECTION], variables),
  };
}

/** The one point at which arms are compared. */
export const CUT = 'rollouts';
/** Steps of an episode, as in ARPO. */
export const STEPS = ['--max-steps', '15'] as const;
/** Rollouts of a task on one desktop: those of one group begin with the same screen, the next group's with another. */
const GROUP = 8;
const FIXED = ['--no-dynamic-rollouts', '--no-dynamic-length'] as const;

/** Where the shared rollouts of a seed lie. */
function sharedOf({ dir, trajectories }: ArpoSettings, seed: number, base: Base) {
  const folder = join(dir, 'shared', base.sha256.slice(0, 8), String(seed));
  return { rollouts: join(folder, `rollouts-${trajectories}-of-${GROUP}.ndjson`), blobs: join(folder, 'blobs') };
}

/** The rollouts of the base policy on the tasks that are learned from, which the offline arms share. */
export function sharedJob(settings: ArpoSettings, seed: number, base: Base, tasks: TaskFiles): Job {
  const { rollouts } = sharedOf(settings, seed, base);
  return {
    title: `the shared rollouts, seed ${seed}`,
    product: rollouts,
    kind: 'rollouts',
    seconds: settings.trajectories / 50,
    check: () => refuseOtherTasks(rollouts, tasks['in-domain'].path),
    run: (stop) => runLines([sharedLine(settings, seed, base, tasks)], rollouts, stop),
  };
}

/** The line that makes them. */
export function sharedLine(settings: ArpoSettings, seed: number, base: Base, tasks: TaskFiles): string {
  const { rollouts, blobs } = sharedOf(settings, seed, base);
  // Less than a group only where a trial has no more.
  const each = Math.max(1, Math.ceil(settings.trajectories / tasks['in-domain'].count));
  const group = Math.min(GROUP, each);
  const what = ['--tasks', tasks['in-domain'].path, '--env', 'embedded:32', '--policy', `onnx:${base.path}`];
  const many = ['-n', group, '--epochs', Math.round(each / group), ...FIXED, ...STEPS];
  return wholeLine(rollouts, (output) => {
    const how = ['--seed', seed, '--blobs', blobs, '-o', output, '--quiet'];
    return lineOf('bin/dart-rollout', what, many, how);
  });
}

/** The name of their file says everything but the tasks, which follow from IN_DOMAIN, SELECT_ROLLOUTS and chance. */
async function refuseOtherTasks(rollouts: string, tasks: string): Promise<void> {
  const [found, wanted] = [await idsIn(rollouts, 'trajectory'), await idsIn(tasks, 'task')];
  if (found.size === wanted.size && [...found].every((id) => wanted.has(id))) return;
  throw new DartError('these rollouts are of other tasks than those that are learned from', {
    where: rollouts,
    hint: 'IN_DOMAIN and SELECT_ROLLOUTS of before; RUN_DIR=… for others; or remove its folder',
  });
}

async function idsIn(path: string, type: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { record } of readRecords(createReadStream(path), { name: path }))
    if (record.type === type) ids.add((record as Task | Trajectory).task_id);
  return ids;
}

/** True where a run ended by its limit of seconds, before it had learned from all the rollouts that others learned from. */
export function endedEarly(settings: ArpoSettings, { name, cuts }: RunRecord): boolean {
  const arm = settings.arms.find((each) => each.name === name);
  const moment = cuts[CUT];
  if (arm === undefined || moment === undefined) return false;
  if (arm.kind === 'online') return moment.trajectories < settings.trajectories;
  return arm.kind === 'offline' && moment.seconds >= settings.offlineSeconds;
}

/** What the runs of a comparison begin with. */
export interface Given {
  base: Base;
  tasks: TaskFiles;
}

/** Where the run of an arm with a seed lies. */
export const folderOf = ({ dir }: ArpoSettings, arm: ArpoArm, seed: number) => join(dir, arm.name, String(seed));

/** The training of an arm with a seed. */
export function pieceOf(
  settings: ArpoSettings,
  arm: ArpoArm,
  seed: number,
  given: Given,
  say: (line: string) => void,
): Piece {
  const dir = folderOf(settings, arm, seed);
  const details = () => readDetails(dir, settings.trajectories);
  const made = madeBy(settings, arm, seed, given);
  if (arm.kind === 'online')
    return { ...trainingPiece(arm.name, onlineOf(settings, arm, seed, given), say), made, details };
  const lines = storedLines(settings, arm, seed, given.base);
  return {
    ...{ name: arm.name, dir, seed, made, details },
    kind: arm.kind,
    seconds:
      arm.kind === 'none' ? 2 : Math.min(settings.offlineSeconds, settings.trajectories * arm.secondsAStoredRollout),
    train: async (stop) => {
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir, { recursive: true });
      const began = performance.now();
      await runLines(lines, dir, stop);
      if ((await updatesIn(dir)) === 0) say(idleLine(arm.name, seed));
      const moment = { seconds: (performance.now() - began) / 1000, trajectories: settings.trajectories, version: 0 };
      return { cuts: { [CUT]: moment }, figures: NO_FIGURES satisfies Figures };
    },
  };
}

/** In place of RUN_DIR and of BASE in what says what a run is. */
export const ANY_FOLDER = 'RUN';
const ANY_BASE = 'BASE';

/** What a run is made by, wherever its folder and its base policy lie: made of the same lines with other names in them. */
function madeBy(settings: ArpoSettings, arm: ArpoArm, seed: number, { base, tasks }: Given): string {
  const anywhere = { ...settings, dir: ANY_FOLDER };
  const given = { base: { ...base, path: ANY_BASE }, tasks: taskFilesIn(ANY_FOLDER, tasks) };
  const learning =
    arm.kind === 'online'
      ? [identityOf(onlineOf(anywhere, arm, seed, given))]
      : [base.sha256, ...storedLines(anywhere, arm, seed, given.base)];
  return [...learning, tasks.digest].join('\n');
}

function onlineOf(settings: ArpoSettings, arm: ArpoArm, seed: number, { base, tasks }: Given): Training {
  const dir = folderOf(settings, arm, seed);
  return onlineTraining(settings, arm, { dir, seed, base, tasks: tasks[arm.tasks].path });
}

/** The line of what learns from stored rollouts, or not at all. */
function storedLines(settings: ArpoSettings, arm: ArpoArm, seed: number, base: Base): string[] {
  const dir = folderOf(settings, arm, seed);
  if (arm.kind === 'none') return [publishedBase(base, join(placesOf(dir).cuts, CUT))];
  return [offlineLine(settings, arm, { dir, seed, base })];
}

/** GRPO and ARPO as they are run: no change of number or length, 15 steps. */
export function onlineTraining(
  settings: ArpoSettings,
  arm: ArpoArm,
  { dir, seed, base, tasks }: { dir: string; seed: number; base: Base; tasks: string },
): Training {
  const { trajectories, limitSeconds } = settings;
  const options = { rollout: ['-n', String(GROUP), ...FIXED, ...STEPS], curate: arm.curate, train: arm.train };
  const cuts = [{ name: CUT, trajectories }];
  const how = { seed, options, before: [], cuts, limitSeconds };
  return { dir, policy: base.path, base: base.sha256, tasks, desktops: 'embedded:32', ...how };
}

/** What a method makes of the shared rollouts, and learns. */
export function offlineLine(
  settings: ArpoSettings,
  arm: ArpoArm,
  { dir, seed, base }: { dir: string; seed: number; base: Base },
): string {
  const { rollouts, blobs } = sharedOf(settings, seed, base);
  const published = join(placesOf(dir).cuts, CUT);
  const train = ['-', '--policy', `onnx:${base.path}`, '--publish', published, '--publish-every', 0, '--blobs', blobs];
  const how = ['--device', 'cpu', '--seed', seed, '--max-seconds', settings.offlineSeconds, '--quiet'];
  return [
    lineOf('bin/dart-curate', arm.curate, rollouts, '--seed', seed, '--quiet'),
    lineOf('bin/dart-train', train, how, '-o', join(dir, 'train.ndjson'), arm.train),
  ].join(' \\\n| ');
}

function publishedBase({ path }: Base, folder: string): string {
  const train = ['--policy', `onnx:${path}`, '--publish', folder, '--max-updates', 0, '--device', 'cpu', '--quiet'];
  return `${lineOf('bin/dart-train', train, '-o', '/dev/null')} < /dev/null`;
}
