import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DartError, messageOf } from '../../lib/errors.ts';
import { compareResults } from '../../lib/report/compare.ts';
import { openStore } from '../../lib/store/index.ts';
import { makeFolderSync } from '../../lib/stream/files.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import type { Result, Summary } from '../../lib/stream/records.ts';
import { playSteps, say } from './play.ts';
import { type DemoSettings, demoSteps, RUN_ID, storeOf } from './steps.ts';

/**
 * `make demo`: the whole loop at embedded scale, as the shell lines that a user would type. Each step leaves a file; a
 * step whose file is there is not done again, so that the same command goes on after Ctrl-C where it stopped.
 * The last line of stdout is one `summary` record; everything for people goes to stderr.
 */
async function demo(settings: DemoSettings): Promise<number> {
  const started = Date.now();
  makeFolderSync(settings.dir);
  const code = await playSteps(demoSteps(settings));
  if (code === 0) process.stdout.write(`${JSON.stringify(await summarise(settings, started))}\n`);
  return code;
}

async function summarise(settings: DemoSettings, started: number): Promise<Summary> {
  const file = (name: string) => join(settings.dir, name);
  const train = await gain(file('base-train.ndjson'), file('trained-train.ndjson'));
  const heldout = await gain(file('base-heldout.ndjson'), file('trained-heldout.ndjson'));
  const trainer = await lastSummary(file('train.ndjson'));
  return {
    type: 'summary',
    v: 1,
    command: 'demo',
    base_success: train.before,
    trained_success: train.after,
    heldout_base: heldout.before,
    heldout_trained: heldout.after,
    heldout_gain_low: heldout.gain.low,
    heldout_gain_high: heldout.gain.high,
    trajectories: await trajectories(settings),
    updates: Number(trainer.version),
    seed: settings.seed,
    wall_s: Math.round((Date.now() - started) / 1000),
  };
}

/** How many rollouts the training was fed with, over all starts of the demo. */
async function trajectories(settings: DemoSettings): Promise<number> {
  const store = await openStore(storeOf(settings));
  try {
    return await store.countRollouts(RUN_ID);
  } finally {
    await store.close();
  }
}

async function gain(before: string, after: string) {
  const comparison = compareResults(await results(before), await results(after));
  if (!comparison) throw new DartError('no task was scored on both sides', { where: `${before}, ${after}` });
  return comparison;
}

async function results(path: string): Promise<Result[]> {
  const all: Result[] = [];
  for await (const { record } of readRecords(bytes(path), { name: path }))
    if (record.type === 'result') all.push(record as Result);
  return all;
}

async function lastSummary(path: string): Promise<Summary> {
  let last: Summary | undefined;
  for await (const { record } of readRecords(bytes(path), { name: path }))
    if (record.type === 'summary') last = record as Summary;
  if (!last) throw new DartError('no summary record', { where: path });
  return last;
}

async function* bytes(path: string): AsyncGenerator<Uint8Array> {
  yield readFileSync(path);
}

const seed = Number(process.env.SEED ?? 1);
const seconds = Number(process.env.TRAIN_SECONDS ?? 540);
demo({ seed, seconds, dir: process.env.RUN_DIR ?? join('runs', `demo-seed${seed}`) }).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    say(messageOf(error));
    process.exitCode = 2;
  },
);
