import { basename, dirname, join } from 'node:path';
import { DartError } from '../../errors.ts';
import { type Episode, trajectoryOf } from './episode.ts';
import { entriesOf, type FolderEntries, type GivenPath, ImportFolder, walkFolders } from './folder.ts';
import { type Imported, type ImportParts, note } from './importer.ts';
import { type RunnerLog, type RunnerStep, readRunnerLog, renderedReply, timeOfStamp } from './osworld_lines.ts';
import { parseReward, type StatedReward } from './reward.ts';
import { keepFile, NONE } from './screenshot.ts';
import type { EpisodeStep } from './steps.ts';

const LOG = 'traj.jsonl';
const ACTION_SPACES = new Set(['pyautogui', 'computer_13', 'claude_computer_use', 'autoglm_computer_use']);
/** What runners that keep the first screen call it. */
const INITIAL = /^(?:initial_state|initial|step_0(?:_[^.]*)?|step_reset(?:_[^.]*)?)\.png$/;

export interface OsworldOptions {
  /** Replies are written anew from the actions, also where the agent's own were recorded. */
  renderReplies: boolean;
  /** Folder with `<task_id>.png`, the screen that a task begins with. */
  initialScreens: GivenPath | null;
}

/**
 * Result folders of OSWorld's runner (reference/osworld.md §5), one trajectory a task folder:
 * `<action_space>/<observation_type>/<model>/<domain>/<task_id>/{traj.jsonl, result.txt, step_N_TIMESTAMP.png}`. The tree
 * may be given at any level.
 */
export async function* importOsworld(
  source: GivenPath,
  options: OsworldOptions,
  parts: ImportParts,
): AsyncGenerator<Imported, void, void> {
  const { folder, isFile, path: real } = await ImportFolder.of(source);
  if (isFile && basename(real) !== LOG) {
    throw new DartError(`not a ${LOG}`, { where: source.given, hint: 'a results folder of OSWorld’s' });
  }
  const folders = isFile ? [await entriesOf(folder, folder.root)] : walkFolders(folder, real);
  for await (const entries of folders) {
    parts.signal.throwIfAborted();
    if (!entries.files.includes(LOG)) continue;
    try {
      yield* importEpisode(folder, entries, options, parts);
    } catch (error) {
      parts.onBad(error);
    }
  }
}

async function* importEpisode(
  folder: ImportFolder,
  entries: FolderEntries,
  options: OsworldOptions,
  parts: ImportParts,
): AsyncGenerator<Imported, void, void> {
  const path = join(entries.path, LOG);
  const taskId = basename(entries.path);
  const log = await readRunnerLog(path, folder.name(path), parts.onBad);
  if (log.torn !== null) {
    parts.count('lines_cut_short');
    yield note('line_cut_short', log.torn, { task_id: taskId });
  }
  const stamps = log.steps.flatMap((step) => step.stamps);
  const episode: Episode = {
    from: 'osworld',
    where: folder.name(path),
    taskId,
    domain: basename(dirname(entries.path)),
    // A task folder is newer than a run, and the runner does not record the instruction.
    instruction: parts.task(taskId)?.instruction ?? log.instruction,
    policy: modelOf(entries.path),
    trace: '',
    steps: await stepsOf(log, folder, entries, options, parts),
    reward: await resultOf(folder, entries.path),
    error: log.error,
    startedAt: timeOfStamp(stamps[0]),
    finishedAt: timeOfStamp(stamps.at(-1)),
  };
  yield* trajectoryOf(episode, parts);
}

/** The model's name, where the folders above are those that the runner makes. */
function modelOf(path: string): string {
  const names = path.split('/');
  return ACTION_SPACES.has(names.at(-5) ?? '') ? names.at(-3)! : 'osworld';
}

async function resultOf(folder: ImportFolder, place: string): Promise<StatedReward | null> {
  const found = await folder.read(place, 'result.txt');
  if ('refused' in found) return null;
  return parseReward(found.bytes.toString('utf8'), folder.name(found.path));
}

/**
 * A step's own screen is the one after the step before it: the runner saves what it sees after each action. Where
 * numbers are missing between two steps, lines are lost: steps of which nothing is known.
 */
async function stepsOf(
  log: RunnerLog,
  folder: ImportFolder,
  entries: FolderEntries,
  options: OsworldOptions,
  parts: ImportParts,
): Promise<EpisodeStep[]> {
  const steps: EpisodeStep[] = [];
  for (const [index, step] of log.steps.entries()) {
    const previous = log.steps[index - 1];
    const lost = lostBefore(step, previous);
    for (let i = 0; i < lost; i++) steps.push(LOST);
    const follows = lost > 0 ? null : previous ? afterOf(previous, entries) : (log.initial ?? initialOf(entries));
    const screenshot = await screenOf(step.before ?? follows, steps.length, folder, entries, options, parts);
    const { actions, parseError } = step;
    const recorded = options.renderReplies ? null : step.response;
    const text = recorded ?? renderedReply(actions);
    steps.push({ text: text === '' ? null : text, actions, parseError, screenshot });
  }
  return steps;
}

/** A step whose line in the log cannot be read or is not there. */
const LOST: EpisodeStep = {
  text: null,
  actions: [],
  parseError: null,
  screenshot: { file: null, refused: 'the line of this step is missing' },
};
/** More are no lost lines but numbers of another kind. */
const MAX_LOST = 1000;

/** How many steps the log counts between two of its lines; the runner counts from 1. */
function lostBefore({ stepNum }: RunnerStep, previous: RunnerStep | undefined): number {
  const lost = stepNum - (previous?.stepNum ?? Math.min(stepNum, 0)) - 1;
  return Number.isInteger(lost) && lost > 0 && lost <= MAX_LOST ? lost : 0;
}

async function screenOf(
  name: string | null,
  index: number,
  folder: ImportFolder,
  entries: FolderEntries,
  { initialScreens }: OsworldOptions,
  parts: ImportParts,
): Promise<EpisodeStep['screenshot']> {
  if (name !== null) return keepFile(folder, [entries.path], name, parts);
  if (index > 0 || initialScreens === null) return NONE;
  const given = await ImportFolder.of(initialScreens);
  return keepFile(given.folder, [given.folder.root], `${basename(entries.path)}.png`, parts);
}

/** As the line names it, else by the runner's pattern. */
function afterOf({ after, stepNum, stamps }: RunnerStep, { files }: FolderEntries): string | null {
  const stamp = stamps.at(-1);
  if (after !== null || stamp === undefined) return after;
  return files.find((name) => name === `step_${stepNum}_${stamp}.png`) ?? null;
}

function initialOf({ files }: FolderEntries): string | null {
  return files.find((name) => INITIAL.test(name)) ?? null;
}
