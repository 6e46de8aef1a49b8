import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageRoot } from '../../lib/cli/paths.ts';
import { makeFolderSync } from '../../lib/stream/files.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import type { Trajectory } from '../../lib/stream/records.ts';
import { SUITES } from './evaluations.ts';
import { type Job, playJobs } from './queue.ts';
import { lineOf, runLines } from './shell.ts';

/** Tasks that the base policy is taught well: with them the dynamic rollout number has something to save. */
export const TAUGHT = [
  ...['chrome-turn-on-dark-pages', 'chrome-turn-on-do-not-track', 'chrome-join-gold', 'chrome-drop-news'],
  ...['gimp-sharpen', 'gimp-export-sky', 'calc-write-f2-9', 'calc-delete-row-3', 'impress-delete-budget'],
  ...['impress-blue-facts', 'writer-delete-mouse', 'os-rename-compass', 'os-run-date', 'os-trash-ticket'],
  ...['mail-star-gus', 'mail-delete-kim', 'vlc-play-thunder', 'vlc-play-candle', 'vlc-loop', 'code-word-wrap'],
] as const;

/** Tasks of which the base policy never sees a success: what the experience pool is for. */
export const UNTAUGHT = [
  ...['multi-picture-cat', 'multi-folder-roses', 'multi-star-ken', 'multi-setting-tango', 'mail-folder-family'],
  ...['mail-send-joe', 'writer-change-rain', 'writer-bold-cheese', 'gimp-darker', 'gimp-dark-theme'],
  ...['calc-write-b5-8', 'chrome-search-bing', 'code-rename-beta', 'vlc-playlist-party', 'code-change-green'],
] as const;

interface Lesson {
  name: string;
  tasks: readonly string[];
  /** Episodes a task, and who acts in them. */
  episodes: number;
  policy: string;
  /** Share of the episodes whose last word (finished, fail) is taught: without it a policy goes on. */
  endings: number;
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

/** What the base policy imitates. Wandering and waiting make it go on where it does not know the way. */
export function lessons(): Lesson[] {
  const partly = partlyTaught();
  return [
    { name: 'taught', tasks: TAUGHT, episodes: 60, policy: EXPERT, endings: 1, seed: 21 },
    { name: 'partly', tasks: partly, episodes: 16, policy: EXPERT, endings: 0.5, seed: 22 },
    { name: 'partly-wandering', tasks: partly, episodes: 1, policy: WANDERER, endings: 0, seed: 23 },
    { name: 'partly-waiting', tasks: partly, episodes: 1, policy: IDLER, endings: 0, seed: 24 },
    { name: 'wandering', tasks: UNTAUGHT, episodes: 2, policy: WANDERER, endings: 0, seed: 25 },
    { name: 'waiting', tasks: UNTAUGHT, episodes: 1, policy: IDLER, endings: 0, seed: 26 },
  ];
}

/**
 * The base policy of the ablation: a fresh network that imitates experts on the training tasks, well on a third of them,
 * a little on others, and on a quarter only how to go on without getting anywhere. The demo's base fails within a few steps and has no step that
 * it is sure of, so that neither the dynamic length nor the choice by entropy could show there.
 */
export function baseJob(dir: string, product: string): Job {
  const { before, after } = baseLines(dir, product);
  return {
    title: 'the base policy',
    product,
    seconds: 220,
    run: async (stop) => {
      makeFolderSync(dir);
      await runLines(before, dir, stop);
      const texts = lessons().map((lesson) => demonstrationsOf(lesson, join(dir, `${lesson.name}.ndjson`)));
      writeFileSync(join(dir, 'demonstrations.ndjson'), (await Promise.all(texts)).join(''));
      await runLines(after, dir, stop);
    },
  };
}

/** Its lines: a fresh network and the experts' episodes; then, from those as they are taught, the imitation. */
export function baseLines(dir: string, product: string): { before: string[]; after: string[] } {
  const file = (name: string) => join(dir, name);
  const blobs = ['--blobs', file('blobs')];
  const rollout = ({ name, tasks, episodes, policy, seed }: Lesson) => {
    const what = ['--tasks', SUITES.train, '--env', 'embedded:8', '--policy', policy, '-n', episodes];
    const how = ['--max-steps', 12, '--seed', seed, blobs, '-o', file(`${name}.ndjson`), '--log-level', 'error'].flat();
    return lineOf(
      'bin/dart-rollout',
      what,
      how,
      tasks.flatMap((id) => ['--task', id]),
    );
  };
  const sft = ['--objective', 'sft', '--all-outcomes', '--policy', `onnx:${file('fresh.onnx')}`, '--epochs', 8];
  const rate = ['--lr', '1e-3', '--lr-schedule', 'cosine', '--lr-warmup', 20, '--seed', 1, '--device', 'cpu'];
  const where = ['--publish', file('policy'), '-o', file('sft.ndjson'), '--quiet'];
  return {
    before: [
      lineOf('bin/dart-train', 'init', '-o', file('fresh.onnx'), '--seed', 1, '--quiet'),
      ...lessons().map(rollout),
    ],
    after: [
      lineOf('bin/dart-train', file('demonstrations.ndjson'), sft, rate, blobs, where),
      lineOf('bin/dart-train', 'export', file('policy'), '-o', product, '--quiet'),
    ],
  };
}

/** The episodes of a lesson as lines, without the last words that are not taught. */
async function demonstrationsOf({ endings }: Lesson, path: string): Promise<string> {
  const lines: string[] = [];
  for await (const { record } of readRecords(createReadStream(path), { name: path })) {
    if (record.type !== 'trajectory') continue;
    const taught = withEnding(record as Trajectory, endings);
    if (taught.steps.length > 0) lines.push(`${JSON.stringify(taught)}\n`);
  }
  return lines.join('');
}

/** An episode with its ending, or without: a share of them keeps it, drawn by the episode's name. */
export function withEnding(trajectory: Trajectory, share: number): Trajectory {
  const draw = createHash('sha256').update(trajectory.trajectory_id).digest().readUInt32BE() / 2 ** 32;
  const ends = trajectory.steps.at(-1)?.actions.some(({ type }) => type === 'finished' || type === 'fail');
  return ends && draw >= share ? { ...trajectory, steps: trajectory.steps.slice(0, -1) } : trajectory;
}

/** Where the base policy of `make ablation` is made. */
const TAUGHT_BASE = join('runs', 'taught');

/** The base policy: the given file, or the one that is made here once. */
export async function basePolicy(
  given: string | undefined,
  say: (line: string) => void,
  stop?: AbortSignal,
): Promise<string> {
  if (given) return given;
  const product = join(TAUGHT_BASE, 'base.onnx');
  if (!existsSync(product)) await playJobs([baseJob(TAUGHT_BASE, product)], say, stop);
  return product;
}

/** Marks which base policy runs were made with. */
export function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
