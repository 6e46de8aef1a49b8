import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadRecord } from '../stream/reader.ts';
import { makeSample, makeStep, makeTrajectory } from '../stream/records.testing.ts';
import type { AnyRecord } from '../stream/records.ts';
import { frames, LOCAL, SETTINGS } from './learner.testing.ts';
import type { LearnerSettings } from './learner.ts';
import { LinearModel } from './linear.testing.ts';
import { LocalEngine } from './local_engine.ts';
import { type Objective, PRESETS } from './presets.ts';
import { Publisher } from './publisher.ts';
import { runTraining, type TrainingConfig } from './run.ts';
import { versionFolder } from './versions.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rounds-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const SFT: Objective = { kind: 'sft' };
const DPO: Objective = { kind: 'dpo', beta: 0.5 };
const RL: Objective = { kind: 'policy', policy: PRESETS.grpo.objective };

/** Successes of one-letter steps, one trajectory a text. */
const demos = (...texts: string[]): AnyRecord[] =>
  texts.map((text) =>
    makeTrajectory(
      [...text].map((letter, i) => makeStep(i, { text: letter })),
      { trajectory_id: text, reward: 1, outcome: 'success' },
    ),
  );

/** Pairs of episodes of one step. */
const pairs = (count: number): AnyRecord[] =>
  Array.from({ length: count }, (_, i) => {
    const side = (text: string, reward: number) => ({
      trajectory_id: `${i}${text}`,
      reward,
      steps: [makeStep(0, { text })],
    });
    const about = { type: 'preference', v: 1, task_id: 'x', domain: 'os', instruction: 'do it', objective: 'dpo' };
    return { ...about, chosen: side('a', 1), rejected: side('b', 0) };
  });

/** Groups of one step, of which one makes an update. */
const groups = (...ids: string[]): AnyRecord[] =>
  ids.map((group_id) =>
    makeSample({ group_id, group_steps: 1, entropy: null, step: makeStep(0, { text: 'a' }), trajectory_id: group_id }),
  );

interface Case {
  folder?: string;
  learner?: Partial<LearnerSettings>;
  batch?: number;
  maxUpdates?: number;
}

/** One run in a folder: two steps or pairs an update, of samples one. */
async function train(records: AnyRecord[], objective: Objective, given: Case = {}) {
  const out: AnyRecord[] = [];
  const [notes, warnings]: [string[], string[]] = [[], []];
  const batch = given.batch ?? (objective === RL ? 1 : 2);
  const config: TrainingConfig = {
    objective,
    learner: { ...SETTINGS, ...given.learner },
    batchSamples: batch,
    batchGroups: objective === DPO ? batch : null,
    limits: { maxUpdates: given.maxUpdates ?? null, maxSamples: null },
    publishEvery: objective === RL ? 1 : 0,
    minReward: 1,
    baseSha256: 'base',
  };
  const engine = new LocalEngine(
    new LinearModel(4),
    { ...LOCAL, objective },
    { frames, reference: new LinearModel(4) },
  );
  const folder = join(dir, given.folder ?? 'a');
  const summary = await runTraining(reading(records), config, {
    engine,
    publisher: new Publisher({ dir: folder, runId: 'run', keep: 99, store: null }),
    output: {
      progress: () => {},
      note: (line) => void notes.push(line),
      warn: (line) => void warnings.push(line),
      record: async (record) => void out.push(record),
    },
    passOn: async () => {},
    onBadRecord: (error) => {
      throw error;
    },
    signal: new AbortController().signal,
  });
  const metric = (name: string) => out.filter((r) => r.name === `train/${name}`).map((r) => r.value as number);
  // What it says of the folder's versions and of what it learns from is told elsewhere.
  const told = notes.filter((line) => !/^going on from|to imitate|of episodes/.test(line));
  return { summary, metric, told, warnings, steps: metric('kept_steps') };
}

async function* reading(records: AnyRecord[]): AsyncGenerator<ReadRecord> {
  for (const [i, record] of records.entries()) yield { line: i + 1, record, where: `x:${i + 1}` };
}

const NAMES = ['weights.safetensors', 'optimizer.safetensors', 'state.json'];
const bytesOf = (folder: string, version: number) =>
  NAMES.map((name) => readFileSync(join(versionFolder(join(dir, folder), version), name), 'latin1'));

/** Five steps in three trajectories: three updates a pass. */
const FIRST = demos('ab', 'ba', 'c');
/** Four steps: two updates a pass. */
const SECOND = demos('cc', 'bc');
const twice = { learner: { epochs: 2 } };

describe('one folder', () => {
  it('learns all passes over other demonstrations than before', async () => {
    expect((await train(FIRST, SFT, twice)).steps).toEqual([2, 2, 1, 2, 2, 1]);
    const second = await train(SECOND, SFT, twice);
    expect([second.steps, second.metric('epoch')]).toEqual([
      [2, 2, 2, 2],
      [0.5, 1, 1.5, 2],
    ]);
    expect(second.told).toEqual(['other demonstrations than before: begins with them at version 6']);
    expect(second.summary).toMatchObject({ version: 10, updates: 10, samples: 18, epochs: 2, stopped: 'epochs' });
  });

  it('learns from samples, demonstrations and pairs in turn, each from its beginning', async () => {
    await train(groups('a', 'b', 'c', 'd'), RL);
    const imitated = await train(FIRST, SFT);
    expect([imitated.steps, imitated.told]).toEqual([[2, 2, 1], ['begins with these demonstrations at version 4']]);
    expect((await train(groups('a', 'e'), RL)).summary).toMatchObject({ version: 8, groups: 5 });
    const preferred = await train(pairs(4), DPO);
    expect(preferred.steps).toEqual([4, 4]);
    expect(preferred.told).toEqual([
      'begins with these pairs at version 8; the policy is held to the one that the folder began with (to hold it to this version, start another folder from it)',
    ]);
    expect([imitated, preferred].map(({ warnings }) => warnings)).toEqual([[], []]);
  });

  it('learns nothing twice, says so, and goes on where more passes are asked for', async () => {
    await train(FIRST, SFT, twice);
    const again = await train(FIRST, SFT, twice);
    expect([again.steps, again.summary.stopped, again.summary.epochs]).toEqual([[], 'epochs', 2]);
    const done = 'these demonstrations are learned already, in 2 passes: nothing is left to do';
    expect(again.told).toEqual([`${done}. Try: --epochs 3 for another one, or another --seed to begin with them anew`]);
    const more = await train(FIRST, SFT, { learner: { epochs: 3 } });
    expect([more.steps, more.told]).toEqual([[2, 2, 1], ['goes on with these demonstrations at pass 2 of 3']]);
    await train(SECOND, SFT);
    const { steps, told } = await train(FIRST, SFT, { learner: { epochs: 3 } });
    expect([steps, told]).toEqual([[], [expect.stringContaining('learned already, in 3 passes')]]);
  });

  it('ends at the same bytes where the second of two materials was interrupted', async () => {
    const both = async (folder: string, ...limits: (number | undefined)[]) => {
      await train(FIRST, SFT, { ...twice, folder });
      const runs = [];
      for (const limit of limits)
        runs.push(await train(SECOND, SFT, { ...twice, folder, ...(limit ? { maxUpdates: limit } : {}) }));
      return runs.at(-1)!;
    };
    await both('whole', undefined);
    const { told, steps } = await both('halves', 9, undefined);
    expect([told, steps]).toEqual([['goes on with these demonstrations at pass 1.5 of 2'], [2]]);
    expect(bytesOf('halves', 10)).toEqual(bytesOf('whole', 10));
  });

  it('begins anew with the same material in another order', async () => {
    await train(FIRST, SFT);
    const seed = await train(FIRST, SFT, { learner: { seed: 7 } });
    const batch = await train(FIRST, SFT, { batch: 5 });
    expect([seed.steps, batch.steps]).toEqual([[2, 2, 1], [5]]);
    const line = 'these demonstrations come in another order';
    expect([seed.told, batch.told]).toEqual([
      [`${line} (--seed 7, not 1): begins with them anew at version 3`],
      [`${line} (--seed 1, not 7; 5 an update, not 2): begins with them anew at version 6`],
    ]);
    // Where a record came from makes no other demonstration of it.
    const elsewhere = await train([makeTrajectory([]), ...FIRST], SFT, { batch: 5 });
    expect(elsewhere.steps).toEqual([]);
  });

  it('gives each its own schedule', async () => {
    const schedule = { ...SETTINGS.schedule, lr: 1, warmup: 2 };
    const learner = { schedule };
    const rates = async (...given: Parameters<typeof train>) => (await train(...given)).metric('lr');
    expect(await rates(FIRST, SFT, { learner })).toEqual([0.5, 1, 1]);
    expect(await rates(groups('a'), RL, { learner })).toEqual([0.5]);
    expect(await rates(SECOND, SFT, { learner })).toEqual([0.5, 1]);
    expect(await rates(groups('a', 'b', 'c'), RL, { learner })).toEqual([1, 1]);
    // Nine updates in all: of the four that samples make the last one, at one step above 0.
    const falling = { schedule: { ...schedule, shape: 'linear' as const, warmup: 0 } };
    expect(await rates(groups('d'), RL, { learner: falling, maxUpdates: 9 })).toEqual([0.25]);
  });

  it('warns where a limit that counts everything leaves nothing to learn', async () => {
    await train(groups('a', 'b', 'c'), RL);
    const { steps, warnings, summary } = await train(FIRST, SFT, { maxUpdates: 3 });
    expect([steps, summary.stopped]).toEqual([[], 'max-updates']);
    expect(warnings).toEqual(['--max-updates was reached before this run: it counts all that this folder learned']);
  });
});

describe('a folder from before its versions said what they learned from', () => {
  /** Takes out of a version's state what such a folder has not. */
  function forget(version: number): void {
    const folder = versionFolder(join(dir, 'a'), version);
    const [state, manifest] = ['state.json', 'manifest.json'].map((name) => join(folder, name)) as [string, string];
    const { materials: _, ...rest } = JSON.parse(readFileSync(state, 'utf8'));
    const text = `${JSON.stringify(rest)}\n`;
    writeFileSync(state, text);
    const listed = JSON.parse(readFileSync(manifest, 'utf8'));
    listed.files['state.json'] = { bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') };
    writeFileSync(manifest, JSON.stringify(listed));
  }

  it('begins with the demonstrations, with a warning', async () => {
    await train(FIRST, SFT);
    forget(3);
    const { steps, warnings } = await train(SECOND, SFT);
    expect(steps).toEqual([2, 2]);
    expect(warnings).toEqual([
      'no version here says what its updates learned from: begins with these demonstrations at version 3. Try: --max-updates 3, if they are learned already',
    ]);
    expect((await train(SECOND, SFT)).told).toEqual([expect.stringContaining('are learned already, in 1 pass:')]);
  });

  it('knows that it was samples where no pass was ever counted', async () => {
    await train(groups('a', 'b'), RL);
    const { steps, warnings, told } = await train(SECOND, SFT);
    expect([steps, warnings, told]).toEqual([[2, 2], [], ['begins with these demonstrations at version 2']]);
  });
});
