import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
import { Publisher, type VersionStore } from './publisher.ts';
import { reportedMetrics } from './reported.ts';
import { runTraining, type TrainingConfig } from './run.ts';
import { listVersions } from './versions.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'train-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Groups of four one-token replies whose tokens and rewards depend on the group's number. */
function samples(groups: number): AnyRecord[] {
  return Array.from({ length: groups }, (_, g) =>
    [0, 1, 2, 3].map((i) => {
      const [token, won] = [(g * 7 + i * 3) % 4, (g + i) % 3 === 0];
      return makeSample({
        group_id: `g${g}`,
        group_steps: 4,
        trajectory_id: `t${i}`,
        step_index: i,
        advantage: won ? 1.2 : -0.4,
        entropy: null,
        step: makeStep(i, { token_ids: [token, (token + 1) % 4], logprobs: [-1, -1.5] }, `${'0f'[i % 2]}`.repeat(64)),
      });
    }),
  ).flat();
}

async function* reading(records: AnyRecord[]): AsyncGenerator<ReadRecord> {
  for (const [i, record] of records.entries()) yield { line: i + 1, record, where: `x:${i + 1}` };
}

interface Case {
  folder?: string;
  maxUpdates?: number | null;
  store?: VersionStore | null;
  learner?: Partial<LearnerSettings>;
  objective?: Objective;
  publishEvery?: number;
  minReward?: number | null;
  /** Dies (throws) when this record is written. */
  dieAt?: (record: AnyRecord) => boolean;
}

async function train(records: AnyRecord[] | AsyncIterable<ReadRecord>, given: Case = {}) {
  const folder = join(dir, given.folder ?? 'a');
  const objective = given.objective ?? { kind: 'policy', policy: PRESETS.dart.objective };
  const config: TrainingConfig = {
    objective,
    learner: { ...SETTINGS, minibatches: 2, ...given.learner },
    batchSamples: 6,
    batchGroups: null,
    limits: { maxUpdates: given.maxUpdates ?? null, maxSamples: null },
    publishEvery: given.publishEvery ?? 1,
    minReward: given.minReward === undefined ? 1 : given.minReward,
    baseSha256: 'base',
  };
  const out: AnyRecord[] = [];
  const warnings: string[] = [];
  const notes: string[] = [];
  const output = {
    progress: () => {},
    note: (line: string) => void notes.push(line),
    warn: (line: string) => void warnings.push(line),
    record: async (record: AnyRecord) => {
      if (given.dieAt?.(record)) throw new Error('killed');
      out.push(record);
    },
  };
  const model = new LinearModel(4);
  const summary = await runTraining(Array.isArray(records) ? reading(records) : records, config, {
    engine: new LocalEngine(model, { ...LOCAL, objective }, { frames, reference: new LinearModel(4) }),
    publisher: new Publisher({ dir: folder, runId: 'run', keep: 3, store: given.store ?? null }),
    output,
    passOn: async () => {},
    onBadRecord: (error) => {
      throw error;
    },
    signal: new AbortController().signal,
  });
  return { summary, out, model, folder, warnings, notes };
}

const file = (folder: string, version: number, name: string) =>
  readFileSync(join(dir, folder, 'versions', String(version).padStart(6, '0'), name));
const NAMES = ['weights.safetensors', 'optimizer.safetensors', 'state.json', 'manifest.json'];

describe('runTraining', () => {
  it('publishes the start and each update, keeps the newest, and ends with a summary', async () => {
    const { summary, out } = await train(samples(12));
    const checkpoints = out.filter((r) => r.type === 'checkpoint').map((r) => r.version);
    expect(checkpoints).toEqual([0, 1, 2, 3, 4, 5, 6]);
    const names = out.filter((r) => r.update === 1).map((r) => r.name);
    const objective = { kind: 'policy' as const, policy: PRESETS.dart.objective };
    expect(names).toEqual(reportedMetrics({ objective, minibatches: 2, epochs: 1, torch: false }));
    expect(listVersions(join(dir, 'a'))).toEqual([4, 5, 6]);
    expect(JSON.parse(readFileSync(join(dir, 'a/latest.json'), 'utf8'))).toEqual({
      version: 6,
      path: 'versions/000006',
    });
    expect(summary).toMatchObject({
      command: 'dart-train',
      version: 6,
      updates: 6,
      groups: 12,
      stopped: 'end-of-input',
    });
  });

  it('ends at the same bytes whether or not it was interrupted', async () => {
    await train(samples(12), { folder: 'whole' });
    await train(samples(12), { folder: 'halves', maxUpdates: 3 });
    await train(samples(12), { folder: 'halves', maxUpdates: 6 });
    for (const name of NAMES) expect(file('halves', 6, name)).toEqual(file('whole', 6, name));
  });

  it('ends at the same bytes after being killed between two versions', async () => {
    await train(samples(12), { folder: 'whole', publishEvery: 2 });
    const dieAt = (r: AnyRecord) => r.name === 'train/loss' && r.update === 5;
    await expect(train(samples(12), { folder: 'killed', publishEvery: 2, dieAt })).rejects.toThrow('killed');
    expect(listVersions(join(dir, 'killed')).at(-1)).toBe(4);
    // What a kill in the middle of writing leaves behind.
    mkdirSync(join(dir, 'killed/versions/.000006.1.tmp'));
    mkdirSync(join(dir, 'killed/versions/000006'));
    writeFileSync(join(dir, 'killed/versions/000006/weights.safetensors'), 'half');
    await train(samples(12), { folder: 'killed', publishEvery: 2 });
    for (const name of NAMES) expect(file('killed', 6, name)).toEqual(file('whole', 6, name));
    expect(existsSync(join(dir, 'killed/versions/.000006.1.tmp'))).toBe(false);
  });

  it('says so when it goes on from an older version because the newest is damaged', async () => {
    await train(samples(4));
    writeFileSync(join(dir, 'a/versions/000002/weights.safetensors'), 'half');
    const { warnings, summary } = await train(samples(4));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^version 2 of .* is damaged \(weights.safetensors has 4 bytes instead of \d+\)/);
    expect(warnings[0]).toContain('; version 1 is used in its place');
    expect(summary.updates).toBe(2);
    expect((await train(samples(4))).warnings).toEqual([]);
  });

  it('says what came instead when no sample did', async () => {
    const { warnings } = await train([makeTrajectory([]), makeTrajectory([])]);
    expect(warnings).toEqual(['no sample record came; 2 trajectory records passed. Try: dart-curate … | dart-train']);
    expect((await train([...samples(1), makeTrajectory([])])).warnings).toEqual([]);
  });

  it('does not prune the version that best.json names', async () => {
    await train(samples(2));
    writeFileSync(join(dir, 'a/best.json'), '{"version":1}');
    await train(samples(12));
    expect(listVersions(join(dir, 'a'))).toEqual([1, 4, 5, 6]);
  });

  it('publishes what it learned before it refuses bad input', async () => {
    const records = [...samples(4), { type: 'sample', v: 1 }];
    await expect(train(records, { publishEvery: 0 })).rejects.toThrow('not a valid sample');
    expect(listVersions(join(dir, 'a'))).toEqual([0, 2]);
  });

  it('publishes only version 0 when no update is wanted', async () => {
    const { summary } = await train([], { maxUpdates: 0 });
    expect(listVersions(join(dir, 'a'))).toEqual([0]);
    expect(summary).toMatchObject({ version: 0, updates: 0, stopped: 'max-updates' });
  });
});

/** A store that remembers, and dies before or after it did. */
class MemoryStore implements VersionStore {
  readonly versions: { version: number; path: string; groups: readonly string[] }[] = [];
  die: 'before' | 'after' | null = null;
  /** Groups that a curator closed, with the reason. */
  readonly closed = new Map<string, string>();
  /** Closes the group as stale between the last look and the version. */
  closesLate: string | null = null;

  async publishVersion(row: { version: number; path: string; groups: readonly string[] }) {
    if (this.die === 'before' && row.version === 2) throw new Error('killed');
    this.versions.push(row);
    if (this.die === 'after' && row.version === 2) throw new Error('killed');
    const late = row.groups.filter((group) => group === this.closesLate);
    return { overruled: late.map((group_id) => ({ group_id, reason: 'stale' })) };
  }

  async closedGroups(groupIds: readonly string[]) {
    return new Map([...this.closed].filter(([id]) => groupIds.includes(id)));
  }

  async acknowledge(groupIds: readonly string[], { reason }: { reason: string }) {
    for (const id of groupIds) this.closed.set(id, reason);
    return groupIds.length;
  }

  async latestVersion() {
    return this.versions.at(-1) ?? null;
  }
}

describe('with a store', () => {
  it('acknowledges each group with the version that learned it', async () => {
    const store = new MemoryStore();
    await train(samples(4), { store });
    expect(store.versions.map(({ version, groups }) => [version, groups])).toEqual([
      [0, []],
      [1, ['g0', 'g1']],
      [2, ['g2', 'g3']],
    ]);
  });

  it.each(['before', 'after'] as const)('learns nothing twice when it dies %s the transaction', async (die) => {
    await train(samples(8), { folder: 'whole', store: new MemoryStore() });
    const store = new MemoryStore();
    store.die = die;
    await expect(train(samples(8), { folder: 'killed', store })).rejects.toThrow('killed');
    expect(JSON.parse(readFileSync(join(dir, 'killed/latest.json'), 'utf8')).version).toBe(1);
    store.die = null;
    await train(samples(8), { folder: 'killed', store });
    expect(file('killed', 4, 'weights.safetensors')).toEqual(file('whole', 4, 'weights.safetensors'));
    expect(store.versions.flatMap(({ groups }) => groups)).toEqual(['g0', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7']);
  });

  it('hears of a folder that was published into without it', async () => {
    await train(samples(4));
    const store = new MemoryStore();
    const { summary } = await train(samples(6), { store });
    expect(store.versions.map(({ version }) => version)).toEqual([2, 3]);
    expect(summary.updates).toBe(3);
  });

  it('makes the groups of such a folder known, so that nobody hands them on again', async () => {
    await train(samples(4));
    const store = new MemoryStore();
    await train([], { store });
    expect(store.versions.map(({ version, groups }) => [version, groups])).toEqual([[2, ['g0', 'g1', 'g2', 'g3']]]);
  });

  it('leaves out groups that the store has closed, and counts them by reason', async () => {
    const store = new MemoryStore();
    store.closed.set('g0', 'stale').set('g2', 'stale').set('g3', 'already_learned');
    const { summary, out } = await train(samples(6), { store });
    expect(store.versions.map(({ groups }) => groups)).toEqual([[], ['g1', 'g4'], ['g5']]);
    expect(summary).toMatchObject({ groups_skipped: 3, skipped_reasons: { stale: 2, already_learned: 1 }, updates: 2 });
    expect(out.filter((record) => record.event === 'group_skipped').map((r) => [r.group_id, r.reason])).toEqual([
      ['g0', 'stale'],
      ['g2', 'stale'],
      ['g3', 'already_learned'],
    ]);
  });

  it('leaves out a group that was closed while it waited for its batch', async () => {
    const store = new MemoryStore();
    async function* closing() {
      for await (const read of reading(samples(4))) {
        // g0 is whole and selected, and its batch not full.
        if (read.line === 6) store.closed.set('g0', 'stale');
        yield read;
      }
    }
    const { summary } = await train(closing(), { store });
    expect(store.versions.map(({ groups }) => groups)).toEqual([[], ['g1', 'g2'], ['g3']]);
    expect(summary).toMatchObject({ groups_skipped: 1, skipped_reasons: { stale: 1 } });
  });

  it('tells of a group that was closed while it was learned', async () => {
    const store = new MemoryStore();
    store.closesLate = 'g1';
    const { out, warnings } = await train(samples(2), { store });
    expect(out.filter((record) => record.event === 'closed_group_learned')).toEqual([
      { type: 'event', v: 1, event: 'closed_group_learned', group_id: 'g1', reason: 'stale', version: 1 },
    ]);
    expect(warnings).toEqual(['group g1 was closed (stale) while version 1 learned it; the store says so now']);
  });

  it('says so when the folder lost the version that the store knows', async () => {
    const store = new MemoryStore();
    await train(samples(2), { store });
    await expect(train(samples(2), { folder: 'other', store })).rejects.toThrow('not whole in the folder');
  });
});

describe('sft', () => {
  const shown = (text: string, reward: number | null, id: string) =>
    makeTrajectory(
      [...text].map((letter, i) => makeStep(i, { text: letter })),
      { trajectory_id: id, reward, outcome: reward === null ? 'env_error' : reward === 1 ? 'success' : 'failure' },
    );
  const sft: Case = { objective: { kind: 'sft' }, learner: { epochs: 20, minibatches: 1 }, publishEvery: 0 };

  it('imitates successes only, unless told otherwise', async () => {
    const records = [shown('ab', 1, 's'), shown('cc', 0, 'f'), shown('cccc', null, 'e')];
    const { summary, model } = await train(records, sft);
    expect(summary).toMatchObject({ episodes: 1, refused: 2, demonstrated_steps: 2, epochs: 20, stopped: 'epochs' });
    const bias = model.weights.get('bias')!.data;
    expect(Math.min(bias[0]!, bias[1]!)).toBeGreaterThan(bias[2]!);
    const all = await train(records, { ...sft, folder: 'all', minReward: null });
    expect(all.summary).toMatchObject({ episodes: 2, refused: 1, demonstrated_steps: 4 });
  });

  it('takes demonstrations of both forms and samples, and counts what it cannot spell', async () => {
    const demonstration = { type: 'demonstration', v: 1, task_id: 'x', instruction: 'do it' };
    const records = [
      { ...demonstration, steps: [makeStep(0, { text: 'a' }), makeStep(1, { text: '?' })] },
      { ...demonstration, history: ['a'], step: makeStep(1, { text: 'b' }) },
      makeSample({ step: makeStep(0, { text: 'a' }) }),
    ];
    const { summary } = await train(records, sft);
    expect(summary).toMatchObject({ episodes: 3, demonstrated_steps: 3, unspelt_steps: 1 });
  });

  it('counts the episodes that steps are of, not the steps', async () => {
    const demonstration = { type: 'demonstration', v: 1, task_id: 'x', instruction: 'do it', history: [] };
    const step = (trajectory_id: string, i: number) => ({
      ...demonstration,
      trajectory_id,
      step: makeStep(i, { text: 'a' }),
    });
    const sample = (trajectory_id: string, reward: number) =>
      makeSample({ trajectory_id, reward, step: makeStep(0, { text: 'b' }) });
    const records = [
      step('t1', 0),
      step('t1', 1),
      step('t2', 0),
      sample('t3', 1),
      sample('t3', 1),
      sample('t4', 0),
      sample('t4', 0),
    ];
    const { summary, notes } = await train(records, sft);
    expect(summary).toMatchObject({ episodes: 3, refused: 1, demonstrated_steps: 5 });
    expect(notes).toContain('5 steps of 3 episodes to imitate (1 episode not imitated)');
  });

  it('ends at the same bytes whether or not it was interrupted, and reports passes', async () => {
    const records = Array.from({ length: 7 }, (_, i) => shown('abcab'.slice(i % 3), 1, `s${i}`));
    const learner: Partial<LearnerSettings> = {
      ...sft.learner,
      epochs: 2,
      schedule: { ...SETTINGS.schedule, shape: 'cosine', warmup: 2 },
    };
    const { out } = await train(records, { ...sft, learner, folder: 'whole' });
    expect(out.filter((r) => r.name === 'train/epoch').at(-1)?.value).toBe(2);
    await train(records, { ...sft, learner, folder: 'halves', maxUpdates: 3 });
    await train(records, { ...sft, learner, folder: 'halves' });
    const last = listVersions(join(dir, 'whole')).at(-1)!;
    for (const name of NAMES) expect(file('halves', last, name)).toEqual(file('whole', last, name));
  });

  it.each([0, 1])(
    'counts the passes alike in each version and after a restart (publish every %d)',
    async (publishEvery) => {
      const records = Array.from({ length: 7 }, (_, i) => shown('abcab'.slice(i % 3), 1, `s${i}`));
      const learner: Partial<LearnerSettings> = { ...sft.learner, epochs: 2 };
      const given = { ...sft, learner, publishEvery };
      const perPass = 5;
      const epochs = (folder: string) =>
        listVersions(join(dir, folder)).map((v) => [v, JSON.parse(file(folder, v, 'state.json').toString()).epochs]);
      await train(records, { ...given, folder: 'whole' });
      expect(epochs('whole').slice(-1)).toEqual([[2 * perPass, 2]]);
      await train(records, { ...given, folder: 'halves', maxUpdates: perPass });
      expect(epochs('halves').slice(-1)).toEqual([[perPass, 1]]);
      if (publishEvery === 1) expect(epochs('halves').slice(-2, -1)).toEqual([[perPass - 1, 0]]);
      expect((await train(records, { ...given, folder: 'halves' })).summary).toMatchObject({ epochs: 2 });
      expect((await train(records, { ...given, folder: 'halves' })).summary).toMatchObject({ updates: 10, epochs: 2 });
      for (const name of NAMES) expect(file('halves', 10, name)).toEqual(file('whole', 10, name));
    },
  );

  it('says so when nothing can be imitated', async () => {
    const wanted = { message: expect.stringContaining('nothing to imitate'), exitCode: 1 };
    await expect(train([shown('a', 0, 'f')], sft)).rejects.toMatchObject(wanted);
    expect(listVersions(join(dir, 'a'))).toEqual([]);
  });

  it('names the field of a demonstration that is missing', async () => {
    const bad = { type: 'demonstration', v: 1, task_id: 'x', instruction: 'do', steps: [{ index: 0 }] };
    await expect(train([bad], sft)).rejects.toThrow('steps[0].observation');
    const empty = { type: 'demonstration', v: 1, task_id: 'x', instruction: 'do' };
    await expect(train([empty], sft)).rejects.toThrow('neither steps nor a step');
  });
});
