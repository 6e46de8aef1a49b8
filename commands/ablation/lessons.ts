import { createHash } from 'node:crypto';
import { createReadStream, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageRoot } from '../../lib/cli/paths.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import type { Trajectory } from '../../lib/stream/records.ts';
import { SUITES } from './evaluations.ts';

/** Tasks that the base policy masters: with them the dynamic rollout number has something to save. */
export const TAUGHT = [
  ...['chrome-turn-on-dark-pages', 'chrome-turn-on-do-not-track', 'chrome-join-gold', 'chrome-drop-news'],
  ...['gimp-sharpen', 'gimp-export-sky', 'calc-write-f2-9', 'calc-delete-row-3', 'impress-delete-budget'],
  ...['impress-blue-facts', 'writer-delete-mouse', 'os-rename-compass', 'os-run-date', 'os-trash-ticket'],
  ...['mail-star-gus', 'mail-delete-kim', 'vlc-play-thunder', 'vlc-play-candle', 'vlc-loop', 'code-word-wrap'],
] as const;

/** Tasks of which the base policy sees one success beside sixteen that give up: what the experience pool is for. */
export const UNTAUGHT = [
  ...['multi-picture-cat', 'multi-folder-roses', 'multi-star-ken', 'multi-setting-tango', 'mail-folder-family'],
  ...['mail-send-joe', 'writer-change-rain', 'writer-bold-cheese', 'gimp-darker', 'gimp-dark-theme'],
  ...['calc-write-b5-8', 'chrome-search-bing', 'code-rename-beta', 'vlc-playlist-party', 'code-change-green'],
] as const;

export interface Lesson {
  name: string;
  tasks: readonly string[];
  /** Episodes a task, and who acts in them. */
  episodes: number;
  policy: string;
  /** Share of the episodes whose last word (finished, fail) is taught: without it a policy goes on. */
  endings: number;
  /** Where an episode stops short and waits on: so many times. */
  stuck?: number;
  seed: number;
}

/** The ids of the training tasks that are neither taught well nor left out. */
export function partlyTaught(): string[] {
  const root = join(packageRoot(), SUITES.train);
  const all = readdirSync(root, { recursive: true }).flatMap((path) =>
    String(path).endsWith('.json') ? [basename(String(path), '.json')] : [],
  );
  const named: ReadonlySet<string> = new Set([...TAUGHT, ...UNTAUGHT]);
  return all.filter((id) => !named.has(id)).sort();
}

/** Experts that act at random now and then. */
const EXPERT = 'script:noise=0.05';
/** Nearly nothing but random actions. */
const WANDERER = 'script:noise=0.97';
/** Does nothing, again and again: steps that the policy will be sure of. */
const IDLER = 'fixed:wait';
/** Says at once that it has finished. */
const QUITTER = 'fixed:finished';

/** What the base policy imitates first. Wandering and waiting make it go on where it does not know the way. */
export function lessons(): Lesson[] {
  const partly = partlyTaught();
  return [
    { name: 'taught', tasks: TAUGHT, episodes: 100, policy: EXPERT, endings: 1, seed: 21 },
    { name: 'partly', tasks: partly, episodes: 16, policy: EXPERT, endings: 0.5, seed: 22 },
    { name: 'partly-wandering', tasks: partly, episodes: 1, policy: WANDERER, endings: 0, seed: 23 },
    { name: 'partly-waiting', tasks: partly, episodes: 1, policy: IDLER, endings: 0, seed: 24 },
    { name: 'wandering', tasks: UNTAUGHT, episodes: 2, policy: WANDERER, endings: 0, seed: 25 },
    { name: 'waiting', tasks: UNTAUGHT, episodes: 1, policy: IDLER, endings: 0, seed: 26 },
  ];
}

/**
 * What it imitates last, beside its own successes. Whole endings: with half of them, it did its task, waited on to the
 * limit, and a success of 30 steps was the task's length. On the tasks that it was partly taught it may get stuck at any
 * screen and wait there, sure of what it does: so failures end at the limit, as those of large models do. On a
 * quarter of the tasks it gives up, but for one glimpse of the way: what it solves once in a hundred rollouts a pool can
 * keep, and of what it never solves no arm learns anything.
 */
export function lastLessons(): Lesson[] {
  const partly = partlyTaught();
  return [
    { name: 'last-partly', tasks: partly, episodes: 32, policy: EXPERT, endings: 1, seed: 22 },
    { name: 'last-stuck', tasks: partly, episodes: 8, policy: EXPERT, endings: 0, stuck: 10, seed: 27 },
    { name: 'last-wandering', tasks: partly, episodes: 4, policy: WANDERER, endings: 0, stuck: 10, seed: 23 },
    { name: 'last-waiting', tasks: partly, episodes: 4, policy: IDLER, endings: 0, seed: 24 },
    { name: 'last-glimpse', tasks: UNTAUGHT, episodes: 1, policy: EXPERT, endings: 1, seed: 28 },
    { name: 'giving-up', tasks: UNTAUGHT, episodes: 16, policy: QUITTER, endings: 1, seed: 26 },
  ];
}

/** The episodes of a lesson as lines, without the last words that are not taught. */
export function demonstrationsOf({ endings, stuck }: Lesson, path: string): Promise<string> {
  return episodesIn(path, (trajectory) => {
    const taught = stuck === undefined ? withEnding(trajectory, endings) : stuckIn(trajectory, stuck);
    return taught.steps.length > 0 ? taught : null;
  });
}

/** The episodes that succeeded, as lines. */
export function successesOf(path: string): Promise<string> {
  return episodesIn(path, (trajectory) => ((trajectory.reward ?? 0) > 0.5 ? trajectory : null));
}

async function episodesIn(path: string, take: (trajectory: Trajectory) => Trajectory | null): Promise<string> {
  const lines: string[] = [];
  for await (const { record } of readRecords(createReadStream(path), { name: path })) {
    const taken = record.type === 'trajectory' ? take(record as Trajectory) : null;
    if (taken !== null) lines.push(`${JSON.stringify(taken)}\n`);
  }
  return lines.join('');
}

/** Steps of an episode before it is stuck, at most. */
const BEFORE_STUCK = 4;

/**
 * The beginning of an episode, its length drawn by its name, and then `waits` times waiting before the screen that it has
 * come to, which stays as it is. Its last two steps, the last action and the ending, are never in it: what waits has not
 * done the task.
 */
export function stuckIn(trajectory: Trajectory, waits: number): Trajectory {
  if (trajectory.steps.length === 0) return trajectory;
  const begun = Math.floor(drawOf(trajectory) * Math.min(BEFORE_STUCK + 1, trajectory.steps.length - 1));
  const last = trajectory.steps[begun]!;
  const waiting = Array.from({ length: waits }, (_, index) => ({
    ...last,
    index: begun + index,
    response: { text: 'Action: wait()', token_ids: [], logprobs: [], finish_reason: 'stop' as const },
    prompt: { history: begun + index, screenshots: begun + index + 1 },
    actions: [{ type: 'wait' as const }],
  }));
  return { ...trajectory, steps: [...trajectory.steps.slice(0, begun), ...waiting] };
}

function drawOf({ trajectory_id }: Trajectory): number {
  return createHash('sha256').update(trajectory_id).digest().readUInt32BE() / 2 ** 32;
}

/** An episode with its ending, or without: a share of them keeps it, drawn by the episode's name. */
export function withEnding(trajectory: Trajectory, share: number): Trajectory {
  const draw = drawOf(trajectory);
  const ends = trajectory.steps.at(-1)?.actions.some(({ type }) => type === 'finished' || type === 'fail');
  return ends && draw >= share ? { ...trajectory, steps: trajectory.steps.slice(0, -1) } : trajectory;
}
