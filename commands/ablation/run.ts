import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DartError } from '../../lib/errors.ts';
import { openStore } from '../../lib/store/index.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import { rolloutLines } from './rollouts.ts';
import { runLines, start } from './shell.ts';
import { pipelineLine, placesOf, publishLine, RUN_ID, type Training } from './training.ts';
import { type Moment, watchCuts } from './watch.ts';

/** What came of a training, beside the records in its folder. */
export interface TrainingEnd {
  /** The moment of each cut that was reached before the limit. */
  cuts: Record<string, Moment>;
  /** What the whole of it was like. */
  figures: Figures;
}

/** Means over the updates of a training; null where nothing was measured. */
export interface Figures {
  updates: number;
  rollouts_per_group: number | null;
  steps_first: number | null;
  steps_last: number | null;
  staleness: number | null;
  tis_truncated: number | null;
  /** Mean distance of a token's log-probability at the rollout from that at the update, in nats. */
  logp_diff: number | null;
  injected: number | null;
  kept: number | null;
  entropy_last: number | null;
}

/** Of what learns from a file, all at once. */
export const NO_FIGURES: Figures = {
  ...{ updates: 0, rollouts_per_group: null, steps_first: null, steps_last: null, staleness: null },
  ...{ tis_truncated: null, logp_diff: null, injected: null, kept: null, entropy_last: null },
};

/** Exit codes of a pipeline whose trainer we ended ourselves, at its limit, or at the end of its input. */
const GOOD = [0, 143];

/**
 * Runs one training until its cuts are reached or its time is over, keeps the versions at the cuts, and leaves
 * `train.ndjson` (the trainer's records, with the sampler's usage among them). Store and screenshots are removed.
 *
 * @throws the abort reason of `stop`; DartError where a command fails
 */
export async function runTraining(
  training: Training,
  stop?: AbortSignal,
  tell: (moment: Moment) => void = () => {},
): Promise<TrainingEnd> {
  const { dir } = training;
  const places = placesOf(dir);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  await runLines([...training.before, publishLine(training)], dir, stop);
  const line = start(pipelineLine(training), stop);
  const over = new AbortController();
  const ended = line.ended.finally(() => over.abort());
  const store = await openStore(places.store);
  try {
    const cuts = await watchCuts(dir, training.cuts, store, over.signal, tell);
    if (!over.signal.aborted) endTrainer(places.trainerPid);
    const code = await ended;
    stop?.throwIfAborted();
    if (!GOOD.includes(code)) {
      const hint = 'read its messages above, mend the cause, and run the same command again';
      throw new DartError(`the training ended with exit code ${code}`, { where: dir, hint });
    }
    const groups = (await store.groupCounts(RUN_ID)).reduce((sum, count) => sum + count.groups, 0);
    const figures = await figuresOf(places.records, groups);
    const lines = rolloutLines(places.database, RUN_ID).map((line) => ({
      type: 'event',
      v: 1,
      event: 'rollout',
      ...line,
    }));
    await writeWhole(join(dir, 'rollouts.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return { cuts, figures };
  } finally {
    await store.close();
    await ended.catch(() => {});
    for (const path of [places.blobs, places.policy]) rmSync(path, { recursive: true, force: true });
    for (const end of ['', '-wal', '-shm']) rmSync(`${places.database}${end}`, { force: true });
    for (const name of ['trainer.pid', 'publish.ndjson']) rmSync(join(dir, name), { force: true });
  }
}

/** Ends the trainer, which publishes what it has; its neighbours end by their pipes. */
function endTrainer(pidFile: string): void {
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM');
  } catch (error) {
    // Its own limit was quicker.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

interface Usage {
  trajectories: number;
  actions: number;
}

/** Reads a training's records. */
async function figuresOf(path: string, groups: number): Promise<Figures> {
  const sums = new Map<string, { sum: number; count: number; last: number }>();
  const usage: Usage[] = [{ trajectories: 0, actions: 0 }];
  for await (const { record } of readRecords(bytes(path), { name: path })) {
    if (record.type === 'event' && record.event === 'usage') usage.push(record as unknown as Usage);
    if (record.type !== 'metric' || typeof record.value !== 'number') continue;
    const at = sums.get(record.name as string) ?? { sum: 0, count: 0, last: 0 };
    sums.set(record.name as string, { sum: at.sum + record.value, count: at.count + 1, last: record.value });
  }
  const mean = (name: string) => ratio(sums.get(name)?.sum ?? 0, sums.get(name)?.count ?? 0);
  const steps = sums.get('train/steps')?.sum ?? 0;
  const kept = sums.get('train/kept_steps')?.sum ?? 0;
  const quarter = Math.max(1, Math.floor((usage.length - 1) / 4));
  return {
    updates: sums.get('train/kept_steps')?.count ?? 0,
    rollouts_per_group: ratio(usage.at(-1)!.trajectories, groups),
    steps_first: stepsBetween(usage[0]!, usage[Math.min(quarter, usage.length - 1)]!),
    steps_last: stepsBetween(usage[Math.max(0, usage.length - 1 - quarter)]!, usage.at(-1)!),
    staleness: mean('train/staleness_mean'),
    tis_truncated: mean('train/tis_truncated'),
    logp_diff: mean('train/logp_diff'),
    injected: ratio(sums.get('train/injected_steps')?.sum ?? 0, kept),
    kept: ratio(kept, steps),
    entropy_last: sums.get('train/entropy')?.last ?? null,
  };
}

function stepsBetween(from: Usage, to: Usage): number | null {
  return ratio(to.actions - from.actions, to.trajectories - from.trajectories);
}

function ratio(sum: number, count: number): number | null {
  return count > 0 ? sum / count : null;
}

async function* bytes(path: string): AsyncGenerator<Uint8Array> {
  yield readFileSync(path);
}
