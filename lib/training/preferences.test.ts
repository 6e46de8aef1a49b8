import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadRecord } from '../stream/reader.ts';
import { makeStep, makeTrajectory } from '../stream/records.testing.ts';
import type { AnyRecord } from '../stream/records.ts';
import { frames, LOCAL, SETTINGS } from './learner.testing.ts';
import type { LearnerSettings } from './learner.ts';
import { LinearModel } from './linear.testing.ts';
import { LocalEngine } from './local_engine.ts';
import type { Objective } from './presets.ts';
import { Publisher } from './publisher.ts';
import { reportedMetrics } from './reported.ts';
import { runTraining } from './run.ts';
import { listVersions } from './versions.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'preferences-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const DPO: Objective = { kind: 'dpo', beta: 0.5 };
const KTO: Objective = { kind: 'kto', beta: 0.5, desirableWeight: 1, undesirableWeight: 1 };

/** An episode of one-letter replies. */
const side = (replies: string, reward: number) => ({
  trajectory_id: replies,
  reward,
  steps: [...replies].map((text, i) => makeStep(i, { text }, `${'0f'[i % 2]}`.repeat(64))),
});
const about = { type: 'preference', v: 1, task_id: 'x', domain: 'os', instruction: 'do it' };
const pair = (chosen: string, rejected: string): AnyRecord => ({
  ...about,
  objective: 'dpo',
  chosen: side(chosen, 1),
  rejected: side(rejected, 0),
});
const labelled = (completion: string, label: boolean): AnyRecord => ({
  ...about,
  objective: 'kto',
  label,
  completion: side(completion, Number(label)),
});

async function* reading(records: AnyRecord[]): AsyncGenerator<ReadRecord> {
  for (const [i, record] of records.entries()) yield { line: i + 1, record, where: `x:${i + 1}` };
}

interface Case {
  folder?: string;
  maxUpdates?: number | null;
  learner?: Partial<LearnerSettings>;
  batch?: number;
  onBadRecord?: (error: unknown) => void;
}

/** A run on a linear model of the letters a to c. */
async function train(records: AnyRecord[], objective: Objective, given: Case = {}) {
  const out: AnyRecord[] = [];
  const passed: AnyRecord[] = [];
  const notes: string[] = [];
  const warnings: string[] = [];
  const output = {
    progress: () => {},
    note: (line: string) => void notes.push(line),
    warn: (line: string) => void warnings.push(line),
    record: async (record: AnyRecord) => void out.push(record),
  };
  const config = {
    objective,
    learner: { ...SETTINGS, ...given.learner },
    batchSamples: 99,
    batchGroups: given.batch ?? 2,
    limits: { maxUpdates: given.maxUpdates ?? null, maxSamples: null },
    publishEvery: 0,
    minReward: 1,
    baseSha256: 'base',
  };
  const model = new LinearModel(4);
  const summary = await runTraining(reading(records), config, {
    engine: new LocalEngine(model, { ...LOCAL, objective }, { frames, reference: new LinearModel(4) }),
    publisher: new Publisher({ dir: join(dir, given.folder ?? 'a'), runId: 'run', keep: 9, store: null }),
    output,
    passOn: async (record) => void passed.push(record),
    onBadRecord:
      given.onBadRecord ??
      ((error) => {
        throw error;
      }),
    signal: new AbortController().signal,
  });
  const metric = (name: string) => out.filter((r) => r.name === `train/${name}`).map((r) => r.value as number);
  return { summary, out, model, notes, warnings, passed, metric };
}

const file = (folder: string, version: number, name: string) =>
  readFileSync(join(dir, folder, 'versions', String(version).padStart(6, '0'), name));

const PAIRS = [pair('ab', 'cc'), pair('a', 'cac'), pair('ba', 'c'), pair('bab', 'cb'), pair('a', 'bc')];
const LABELS = ['ab', 'a', 'ba', 'cc', 'cac', 'c', 'bc'].map((text) => labelled(text, !text.includes('c')));

describe('dpo', () => {
  it('learns from pairs in passes over all of them, and publishes after each', async () => {
    const { summary, metric, notes, out, model } = await train(PAIRS, DPO, { learner: { epochs: 4 } });
    expect(notes).toContain('5 pairs of episodes, 19 steps');
    expect(summary).toMatchObject({ pairs: 5, preferred_steps: 19, unspelt_pairs: 0, stopped: 'epochs' });
    // Of 5 pairs 2, 2 and 1 are in an update.
    expect(summary).toMatchObject({ updates: 12, epochs: 4, version: 12, samples: 4 * 19 });
    expect(out.filter((r) => r.type === 'checkpoint').map((r) => r.version)).toEqual([0, 3, 6, 9, 12]);
    expect(metric('loss')[0]).toBeCloseTo(Math.log(2), 6);
    expect(metric('loss').at(-1)).toBeLessThan(0.5);
    expect([metric('rewards_accuracies')[0], metric('rewards_accuracies').at(-1)]).toEqual([0, 1]);
    expect(metric('rewards_margins').at(-1)).toBeGreaterThan(0.5);
    expect(metric('epoch').at(-1)).toBe(4);
    const bias = model.weights.get('bias')!.data;
    expect(bias[0]! - bias[2]!).toBeGreaterThan(0.5);
  });

  it('leaves out a pair with a reply that cannot be spelt, and counts it', async () => {
    const { summary, notes } = await train([...PAIRS, pair('a?', 'c'), pair('a', '?')], DPO);
    expect(summary).toMatchObject({ pairs: 5, unspelt_pairs: 2 });
    expect(notes).toContain('5 pairs of episodes, 19 steps (2 pairs not spelt)');
  });

  it('passes on what is no preference', async () => {
    const trajectory = makeTrajectory([]);
    expect((await train([trajectory, ...PAIRS], DPO)).passed).toEqual([trajectory]);
  });

  it.each([
    ['that no pair came', [makeTrajectory([])], /no preferences to learn from: none came; nothing was published/],
    ['that none can be spelt', [pair('?', 'a')], /cannot spell the replies of any \(1\)/],
  ])('says %s, and publishes nothing', async (_, records, message) => {
    await expect(train(records, DPO)).rejects.toMatchObject({ message: expect.stringMatching(message), exitCode: 1 });
    expect(listVersions(join(dir, 'a'))).toEqual([]);
  });

  it('names a preference for the other objective, by its line', async () => {
    const wrong = { message: 'a preference for kto, of which dpo cannot learn', where: 'x:6', exitCode: 2 };
    await expect(train([...PAIRS, LABELS[0]!], DPO)).rejects.toMatchObject(wrong);
    const errors: unknown[] = [];
    const { summary } = await train([LABELS[0]!, ...PAIRS], DPO, { onBadRecord: (error) => errors.push(error) });
    expect([summary.pairs, errors]).toEqual([5, [expect.objectContaining({ where: 'x:1' })]]);
  });

  it('names a side without steps, and a field that is missing', async () => {
    await expect(train([pair('a', '')], DPO)).rejects.toThrow(
      'not a valid preference: rejected.steps: there is no step',
    );
    const { rejected, ...half } = PAIRS[0]!;
    await expect(train([half as AnyRecord], DPO)).rejects.toThrow('dpo wants "chosen" and "rejected"');
  });
});

describe('kto', () => {
  it('learns from labelled episodes', async () => {
    const { summary, metric, notes } = await train(LABELS, KTO, { learner: { epochs: 6 }, batch: 7 });
    expect(notes).toContain('3 desirable and 4 undesirable episodes, 13 steps');
    expect(summary).toMatchObject({ desirable: 3, undesirable: 4, preferred_steps: 13, updates: 6 });
    expect(metric('loss')[0]).toBeCloseTo(0.5, 6);
    expect(metric('loss').at(-1)).toBeLessThan(0.45);
    expect(metric('rewards_chosen').at(-1)).toBeGreaterThan(metric('rewards_rejected').at(-1)!);
    expect(metric('kl')).toHaveLength(6);
    expect(metric('rewards_accuracies')).toEqual([]);
  });

  it('says which weight would even out the labels, unless it does already', async () => {
    // 3 desirable and 4 undesirable.
    const weigh = async (desirableWeight: number) =>
      (await train(LABELS, { ...KTO, desirableWeight } as Objective, { maxUpdates: 0, folder: `${desirableWeight}` }))
        .warnings;
    const tail = 'best are 1 to 1.33. Try: --desirable-weight 1.33 to 1.78';
    expect(await weigh(1)).toEqual([`the desirable episodes weigh 0.75 times the undesirable ones, ${tail}`]);
    expect(await weigh(2)).toEqual([`the desirable episodes weigh 1.50 times the undesirable ones, ${tail}`]);
    expect([await weigh(1.33), await weigh(1.78), await weigh(0)]).toEqual([[], [], []]);
  });

  it('wants both kinds, and says how many of each there are', async () => {
    const wanted = {
      where: '3 desirable, 0 undesirable',
      exitCode: 1,
      message: expect.stringContaining('of one kind'),
    };
    await expect(train(LABELS.slice(0, 3), KTO)).rejects.toMatchObject(wanted);
    await expect(train(LABELS.slice(3), KTO)).rejects.toMatchObject({ where: '0 desirable, 4 undesirable' });
    expect(listVersions(join(dir, 'a'))).toEqual([]);
  });

  it('names a pair among its episodes, by its line', async () => {
    const wrong = { message: 'a preference for dpo, of which kto cannot learn', where: 'x:8' };
    await expect(train([...LABELS, PAIRS[0]!], KTO)).rejects.toMatchObject(wrong);
  });
});

it.each([
  ['dpo', DPO, PAIRS],
  ['kto', KTO, LABELS],
] as const)('%s reports what it is said to report', async (_, objective, records) => {
  const { out } = await train([...records], objective, { maxUpdates: 1 });
  const names = out.filter((record) => record.type === 'metric').map((record) => record.name);
  expect(names).toEqual(reportedMetrics({ objective, minibatches: 1, epochs: 1, torch: false }));
});

describe.each([
  ['dpo', DPO, PAIRS],
  ['kto', KTO, LABELS],
] as const)('a run of %s', (_, objective, records) => {
  it('ends at the same bytes whether or not it was interrupted', async () => {
    const schedule = { ...SETTINGS.schedule, shape: 'cosine' as const, warmup: 1 };
    const learner = { epochs: 3, minibatches: 2, schedule };
    await train([...records], objective, { learner, folder: 'whole' });
    const { summary } = await train([...records], objective, { learner, folder: 'halves', maxUpdates: 4 });
    expect(summary).toMatchObject({ updates: 4, stopped: 'max-updates' });
    await train([...records], objective, { learner, folder: 'halves' });
    const last = listVersions(join(dir, 'whole')).at(-1)!;
    expect(last).toBe(3 * Math.ceil(records.length / 2));
    for (const name of ['weights.safetensors', 'optimizer.safetensors', 'state.json', 'manifest.json']) {
      expect(file('halves', last, name).equals(file('whole', last, name))).toBe(true);
    }
  });
});
