import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadRecord } from '../stream/reader.ts';
import { makeSample, makeStep, makeTrajectory } from '../stream/records.testing.ts';
import type { AnyRecord } from '../stream/records.ts';
import { frames, LOCAL, makeExample, makeLearner, SETTINGS } from './learner.testing.ts';
import type { LearnerSettings } from './learner.ts';
import { LinearModel } from './linear.testing.ts';
import { LocalEngine } from './local_engine.ts';
import { PRESETS } from './presets.ts';
import { Publisher } from './publisher.ts';
import { runTraining, type TrainingConfig } from './run.ts';
import { LimitReached } from './stopping.ts';
import { listVersions, versionFolder } from './versions.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'left-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Steps of two-letter replies: two groups of four make an update of samples, eight steps one of demonstrations. */
const letters = (i: number) => 'abcab'.slice(i % 3, (i % 3) + 2);
/** Spelt as the model does it. */
const reply = (i: number) => ({
  text: letters(i),
  token_ids: [...[...letters(i)].map((letter) => letter.charCodeAt(0) - 97), 3],
  logprobs: [-1, -1.5, -1],
});
const samples: AnyRecord[] = Array.from({ length: 24 }, (_, i) =>
  makeSample({
    ...{ group_id: `g${Math.floor(i / 4)}`, group_steps: 4, trajectory_id: `t${i}`, step_index: i },
    ...{ advantage: i % 3 === 0 ? 1.2 : -0.4, entropy: null, step: makeStep(i, reply(i)) },
  }),
);
const demonstrations: AnyRecord[] = Array.from({ length: 24 }, (_, i) =>
  makeTrajectory([makeStep(0, { text: letters(i) })], { trajectory_id: `t${i}`, reward: 1, outcome: 'success' }),
);

async function* reading(records: AnyRecord[]): AsyncGenerator<ReadRecord> {
  for (const [i, record] of records.entries()) yield { line: i + 1, record, where: `x:${i + 1}` };
}

interface Case {
  folder: string;
  /** The run is told to stop during this optimiser step, counted from 1. */
  stopAt?: number;
  reason?: Error;
  publishEvery?: number;
  learner?: Partial<LearnerSettings>;
  /** Of an engine that cannot go back, as that of PyTorch. */
  forgetful?: boolean;
}

/** An update of eight steps has two passes over two minibatches each. */
async function train(kind: 'policy' | 'sft', { folder, stopAt, reason, forgetful, ...given }: Case) {
  const objective = kind === 'sft' ? { kind } : { kind, policy: PRESETS.grpo.objective };
  const config: TrainingConfig = {
    objective,
    learner: { ...SETTINGS, minibatches: kind === 'sft' ? 4 : 2, epochs: kind === 'sft' ? 1 : 2, ...given.learner },
    batchSamples: 8,
    batchGroups: null,
    limits: { maxUpdates: null, maxSamples: null },
    publishEvery: given.publishEvery ?? 0,
    minReward: 1,
    baseSha256: 'base',
  };
  const engine = new LocalEngine(new LinearModel(4), { ...LOCAL, objective }, { frames, reference: null });
  const stop = new AbortController();
  const step = engine.step.bind(engine);
  let steps = 0;
  engine.step = async (...args) => {
    steps += 1;
    if (steps === stopAt) stop.abort(reason);
    return step(...args);
  };
  if (forgetful) Object.assign(engine, { remember: undefined });
  const warnings: string[] = [];
  const summary = await runTraining(reading(kind === 'sft' ? demonstrations : samples), config, {
    engine,
    publisher: new Publisher({ dir: join(dir, folder), runId: 'run', keep: 9, store: null }),
    output: {
      progress: () => {},
      note: () => {},
      warn: (line) => void warnings.push(line),
      record: async () => {},
    },
    passOn: async () => {},
    onBadRecord: (error) => {
      throw error;
    },
    signal: stop.signal,
  });
  return { summary, warnings, steps, versions: listVersions(join(dir, folder)) };
}

const NAMES = ['weights.safetensors', 'optimizer.safetensors', 'state.json', 'manifest.json'];
const bytesOf = (folder: string, version: number) =>
  NAMES.map((name) => readFileSync(join(versionFolder(join(dir, folder), version), name), 'latin1'));

describe.each(['policy', 'sft'] as const)('an update of several optimiser steps (%s) that is told to stop', (kind) => {
  it('is left out: what was before it is published, and the run ends at the same bytes when it goes on', async () => {
    await train(kind, { folder: 'whole' });
    // The second of the four steps of update 2.
    const { summary, warnings, steps, versions } = await train(kind, { folder: 'halves', stopAt: 6 });
    expect([steps, versions]).toEqual([6, [0, 1]]);
    expect(summary).toMatchObject({ version: 1, updates: 1, samples: 8, epochs: 0, stopped: 'interrupted' });
    expect(warnings).toEqual([
      'stopped (interrupted) after 2 of 4 optimiser steps of update 2: it is left out. Try: the same command, which makes it anew',
    ]);
    expect((await train(kind, { folder: 'halves' })).summary).toMatchObject({ version: 3, updates: 3, samples: 24 });
    expect(bytesOf('halves', 3)).toEqual(bytesOf('whole', 3));
  });

  it('takes with it those that no version has, where the engine cannot go back', async () => {
    await train(kind, { folder: 'whole' });
    const { summary, warnings, versions } = await train(kind, { folder: 'halves', stopAt: 10, forgetful: true });
    expect([versions, summary.version, summary.updates, summary.samples]).toEqual([[0], 0, 0, 0]);
    expect(warnings).toEqual([
      'stopped (interrupted) after 2 of 4 optimiser steps of update 3: it is left out, and so are updates 1-2. Try: the same command, which makes them anew',
    ]);
    await train(kind, { folder: 'halves' });
    expect(bytesOf('halves', 3)).toEqual(bytesOf('whole', 3));
  });

  it('is made to its end where it was in its last step', async () => {
    const { summary, warnings } = await train(kind, { folder: 'a', stopAt: 8 });
    expect([summary.updates, summary.stopped, warnings]).toEqual([2, 'interrupted', []]);
  });
});

describe('a limit of time', () => {
  it('ends the last update of the input too, and the summary says so', async () => {
    const given = { stopAt: 1, reason: new LimitReached('max-seconds'), learner: { minibatches: 1, epochs: 1e9 } };
    const { summary, warnings, versions } = await train('policy', { folder: 'a', ...given });
    expect([summary.stopped, versions]).toEqual(['max-seconds', [0]]);
    expect(warnings).toEqual([
      'stopped (max-seconds) after 1 of 1000000000 optimiser steps of update 1: it is left out. Try: a longer --max-seconds, fewer --epochs or --minibatches',
    ]);
  });
});

describe('an update that is left', () => {
  it('has the weights, moments and step from before it', async () => {
    const stop = new AbortController();
    const { learner, model, parameters, engine } = makeLearner({ minibatches: 2, epochs: 2 });
    const batch = { kind: 'policy' as const, units: [0, 1, 2, 0].map((token) => makeExample([token])) };
    await learner.update(batch);
    const state = () => ({
      bias: [...model.weights.get('bias')!.data],
      moments: [...parameters.first],
      step: parameters.step,
    });
    const before = state();
    const told: string[] = [];
    const onStep = (done: number, of: number) => {
      told.push(`${done}/${of}`);
      if (done === 3) stop.abort();
    };
    const { left, applied } = await learner.update(batch, { signal: stop.signal, onStep });
    expect([left, applied, learner.updates]).toEqual([{ done: 3, of: 4, undone: true }, false, 1]);
    expect(told).toEqual(['0/4', '1/4', '2/4', '3/4']);
    expect(state()).toEqual(before);
    expect(engine.optimizerSteps).toBe(4);
  });
});
