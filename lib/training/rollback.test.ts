import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadRecord } from '../stream/reader.ts';
import { makeSample, makeStep } from '../stream/records.testing.ts';
import type { AnyRecord } from '../stream/records.ts';
import { Guards } from './guards.ts';
import { frames, LOCAL, makeExample, makeLearner, SETTINGS } from './learner.testing.ts';
import { LinearModel } from './linear.testing.ts';
import { LocalEngine } from './local_engine.ts';
import { PRESETS } from './presets.ts';
import { Publisher, type VersionStore } from './publisher.ts';
import { updateMetrics } from './report.ts';
import { Evaluations, type RollbackRules } from './rollback.ts';
import { runTraining, type TrainingConfig } from './run.ts';
import { Session } from './session.ts';
import { freshState, type TrainerState } from './state.ts';
import { listVersions } from './versions.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rollback-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const score = (model_version: number, success_rate: number | null, more: object = {}): AnyRecord => ({
  ...{ type: 'summary', v: 1, command: 'dart-eval', model_version, success_rate },
  ...{ success_rate_low: (success_rate ?? 0) - 0.1, success_rate_high: (success_rate ?? 0) + 0.1 },
  ...{ tasks: 6, max_steps: 15, protocol: 'verified', temperature: 1, fail_at_limit: false, ...more },
});

/** A run in which each `learn` is an update of one token and a version. */
async function open(
  rules: RollbackRules,
  {
    keep = 8,
    state = freshState('base') as TrainerState,
    guards = new Guards([]),
    maxUpdates = null as number | null,
  } = {},
) {
  const { learner, model } = makeLearner();
  const out: AnyRecord[] = [];
  const warnings: string[] = [];
  const told: { version: number; groups: string[] }[] = [];
  const store = {
    publishVersion: async ({ version, groups }) => {
      told.push({ version, groups });
      return { overruled: [] };
    },
    closedGroups: async () => new Map(),
    acknowledge: async () => 0,
    latestVersion: async () => null,
  } satisfies VersionStore;
  learner.updates = state.updates;
  const publisher = new Publisher({ dir, runId: 'r', keep, store });
  const session = new Session(learner, state, {
    limits: { maxUpdates, maxSamples: null },
    publishEvery: 1,
    output: {
      record: async (record) => void out.push(record),
      progress: () => {},
      note: () => {},
      warn: (line) => void warnings.push(line),
    },
    publisher,
    guards,
    evaluations: new Evaluations(dir, rules),
  });
  const units = [makeExample([0], { advantage: 1 }), makeExample([1], { advantage: -1 })];
  const learn = (group: string) => session.learn({ kind: 'policy', units }, [group], updateMetrics);
  await publisher.publish(learner.engine, session.state, { groups: [], metrics: {} });
  const events = (name: string) => out.filter(({ event }) => event === name);
  return { session, learner, model, out, warnings, told, learn, units, events };
}

const weights = (version: number) => {
  const file = readFileSync(join(dir, 'versions', String(version).padStart(6, '0'), 'weights.safetensors'));
  return file.subarray(8 + Number(file.readBigUInt64LE(0)));
};
const best = () => JSON.parse(readFileSync(join(dir, 'best.json'), 'utf8'));
const DROP: RollbackRules = { drop: 0.1, interval: false };

describe('an evaluation that falls', () => {
  it('brings back weights and optimiser of the best version under a new number', async () => {
    const { session, learn, learner, events, told, warnings } = await open(DROP);
    await learn('a');
    await session.heed(score(1, 0.6));
    await learn('b');
    await learn('c');
    await session.heed(score(2, 0.55));
    expect(listVersions(dir)).toEqual([0, 1, 2, 3]);
    await session.heed(score(3, 0.4));
    expect(listVersions(dir)).toEqual([0, 1, 2, 3, 4]);
    expect(weights(4).equals(weights(1))).toBe(true);
    expect(weights(3).equals(weights(1))).toBe(false);
    expect(JSON.parse(readFileSync(join(dir, 'latest.json'), 'utf8')).version).toBe(4);
    expect(learner.engine.optimizerSteps).toBe(1);
    expect(session.state).toMatchObject({ updates: 4, optimizer_step: 1, groups: ['a', 'b', 'c'], rolled_back_at: 4 });
    expect(told.map(({ groups }) => groups)).toEqual([[], ['a'], ['b'], ['c'], []]);
    expect(events('rolled_back')).toEqual([
      {
        ...{ type: 'event', v: 1, event: 'rolled_back', from: 3, to: 1, version: 4 },
        ...{ evaluated_version: 3, score: 0.4, best_score: 0.6 },
      },
    ]);
    expect(warnings).toEqual(['went back from version 3 to 1, as version 4: version 3 scored 40.0%, version 1 60.0%']);
    expect(session.summary('x', {})).toMatchObject({ version: 4, updates: 3, rollbacks: 1 });
    await learn('d');
    expect(listVersions(dir)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('takes log-probabilities anew that were taken before', async () => {
    const { session, learn, units } = await open(DROP);
    await session.heed(score(0, 0.6));
    await learn('a');
    await session.heed(score(1, 0.1));
    for (const example of units) example.oldLogp = Float32Array.of(-9);
    await learn('b');
    expect(units.map(({ oldLogp }) => oldLogp)).toEqual([null, null]);
  });

  it('is met once, however often it is read, and not by what went before', async () => {
    const { session, learn, events } = await open(DROP);
    await session.heed(score(0, 0.6));
    await learn('a');
    await learn('b');
    await session.heed(score(2, 0.1));
    for (const again of [score(0, 0.6), score(1, 0.1), score(2, 0.1), score(3, 0.1)]) await session.heed(again);
    expect(events('rolled_back')).toHaveLength(1);
    const restarted = await open(DROP, { state: { ...session.state } });
    for (const again of [score(0, 0.6), score(1, 0.1), score(2, 0.1), score(3, 0.1)])
      await restarted.session.heed(again);
    expect(restarted.events('rolled_back')).toEqual([]);
    await restarted.learn('c');
    await restarted.session.heed(score(4, 0.1));
    expect(restarted.events('rolled_back')).toMatchObject([{ from: 4, to: 0, version: 5 }]);
  });

  it('is not judged again, after a restart, by a best version that was measured later', async () => {
    const { session, learn, events } = await open(DROP);
    for (const group of ['a', 'b', 'c', 'd']) await learn(group);
    for (const late of [score(4, 0.3), score(2, 0.6), score(3, 0.2)]) await session.heed(late);
    expect([events('rolled_back'), best().version, best().newest]).toEqual([[], 2, 4]);
    const restarted = await open(DROP, { state: { ...session.state } });
    for (const again of [score(4, 0.3), score(2, 0.6), score(3, 0.2)]) await restarted.session.heed(again);
    expect(restarted.events('rolled_back')).toEqual([]);
    expect(restarted.events('evaluated').map(({ version, score: s }) => [version, s])).toEqual([
      [4, 0.3],
      [2, 0.6],
      [3, 0.2],
    ]);
    // One that is new is judged.
    await restarted.learn('e');
    await restarted.session.heed(score(5, 0.3));
    expect(restarted.events('rolled_back')).toMatchObject([{ from: 5, to: 2, version: 6 }]);
  });

  it('is judged by the run that makes its version anew, from an older one', async () => {
    const { session, learn } = await open(DROP);
    await session.heed(score(0, 0.6));
    for (const group of ['a', 'b', 'c']) await learn(group);
    await session.heed(score(3, 0.55));
    expect(best()).toMatchObject({ version: 0, newest: 3 });
    const restarted = await open(DROP, { state: { ...freshState('base'), updates: 1 } });
    await restarted.session.heed(score(0, 0.6));
    await restarted.learn('b');
    await restarted.session.heed(score(2, 0.1));
    expect(restarted.events('rolled_back')).toMatchObject([{ from: 2, to: 0, version: 3 }]);
  });

  it('does not count where a newer version was found good', async () => {
    const { session, learn, events } = await open(DROP);
    await session.heed(score(0, 0.6));
    await learn('a');
    await learn('b');
    await session.heed(score(2, 0.58));
    await session.heed(score(1, 0.1));
    expect(events('rolled_back')).toEqual([]);
    expect(events('evaluated').map(({ version, best_version }) => [version, best_version])).toEqual([
      [0, 0],
      [2, 0],
      [1, 0],
    ]);
  });

  it.each([
    ['a drop by more than D', { drop: 0.1, interval: false }, 0.49, true],
    ['a drop by less than D', { drop: 0.1, interval: false }, 0.51, false],
    ['an interval below the best', { drop: null, interval: true }, 0.49, true],
    ['an interval that reaches it', { drop: null, interval: true }, 0.51, false],
    ['both', { drop: 0.05, interval: true }, 0.49, true],
    ['one of both', { drop: 0.3, interval: true }, 0.49, false],
    ['no rule', { drop: null, interval: false }, 0, false],
  ])('is judged by %s', async (_name, rules, value, falls) => {
    const { session, learn, events } = await open(rules);
    await session.heed(score(0, 0.6));
    await learn('a');
    await session.heed(score(1, value));
    expect(events('rolled_back')).toHaveLength(falls ? 1 : 0);
  });
});

describe('going back', () => {
  it('is no update: the limit and the schedule do not count it', async () => {
    const { session, learner, learn, out } = await open(DROP, { maxUpdates: 2 });
    await session.heed(score(0, 0.6));
    await learn('a');
    await session.heed(score(1, 0.1));
    expect([session.state.updates, session.limit()]).toEqual([2, null]);
    const schedule = { shape: 'linear', lr: 1, warmup: 0, total: 4, floor: 0 } as const;
    Object.assign(learner.settings, { schedule });
    await learn('b');
    expect(out.filter(({ name }) => name === 'train/lr').at(-1)?.value).toBe(0.75);
    expect([session.state.updates, session.limit()]).toEqual([3, 'max-updates']);
    expect(session.summary('x', {})).toMatchObject({ version: 3, updates: 2, rollbacks: 1 });
  });

  it('was counted as one by versions that only say that the run went back', async () => {
    const state = { ...freshState('base'), updates: 5, rolled_back_at: 3 };
    expect((await open(DROP, { state })).session.summary('x', {})).toMatchObject({ updates: 4, rollbacks: 1 });
  });

  it('that fails publishes nothing of what it left half done', async () => {
    const { session, learn, learner } = await open(DROP);
    await session.heed(score(0, 0.6));
    await learn('a');
    learner.engine.restore = async () => {
      throw new Error('the disk is gone');
    };
    await expect(session.heed(score(1, 0.1))).rejects.toThrow('the disk is gone');
    session.state.updates = 9;
    await session.publish();
    expect(listVersions(dir)).toEqual([0, 1]);
    expect(session.summary('x', {})).toMatchObject({ version: 1 });
  });
});

describe('best.json', () => {
  it('has the best version with its score, which pruning spares', async () => {
    const { session, learn } = await open(DROP, { keep: 2 });
    await learn('a');
    await session.heed(score(1, 0.6));
    expect(best()).toEqual({
      ...{ version: 1, score: 0.6, low: 0.5, high: 0.7, newest: 1 },
      conditions: { tasks: 6, max_steps: 15, protocol: 'verified', temperature: 1, fail_at_limit: false },
    });
    for (const group of ['b', 'c', 'd']) await learn(group);
    expect(listVersions(dir)).toEqual([1, 3, 4]);
    await session.heed(score(3, 0.61));
    expect(best()).toMatchObject({ version: 3, score: 0.61 });
    await learn('e');
    expect(listVersions(dir)).toEqual([3, 4, 5]);
  });

  it('is left alone by evaluations that say nothing of this run, and people hear why', async () => {
    const { session, learn, warnings, events } = await open(DROP, { keep: 1 });
    await session.heed(score(0, 0.5));
    await learn('a');
    await learn('b');
    const before = best();
    const odd = [
      score(9, 0.9),
      score(1, 0.9),
      score(2, null),
      score(2, 0.1, { max_steps: 30 }),
      score(2, 0.1, { interrupted: true }),
      score(2, 0.1, { policy: 'onnx:base.onnx' }),
      { ...score(2, 0.1), model_version: null },
    ];
    for (const record of odd) expect(await session.heed(record)).toBe(true);
    expect(best()).toEqual(before);
    expect(events('rolled_back')).toEqual([]);
    expect(warnings.map((line) => line.replace('; it is not used', ''))).toEqual([
      'the evaluation of version 9 is not of this run, which has not come so far',
      'the evaluation of version 1 scored best so far (0.9), but there is no going back to it: manifest.json is missing or cannot be read',
      'the evaluation of version 2 scored nothing',
      'the evaluation of version 2 was measured with max_steps 30, not 15 as at best.json',
      'an evaluation was interrupted',
      'an evaluation measured the file onnx:base.onnx, not a version',
      'an evaluation does not say which version it measured',
    ]);
  });

  it('does not name a version whose optimiser state is gone', async () => {
    const { session, learn, warnings } = await open(DROP);
    await learn('a');
    const path = join(dir, 'versions/000001/manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    delete manifest.files['optimizer.safetensors'];
    writeFileSync(path, JSON.stringify(manifest));
    await session.heed(score(1, 0.6));
    expect(existsSync(join(dir, 'best.json'))).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('its optimiser state is no longer kept (--keep-states)')]);
  });

  it('of a person, who gave no score, is replaced by the first evaluation', async () => {
    const { session } = await open(DROP);
    writeFileSync(join(dir, 'best.json'), '{"version":7}');
    await session.heed(score(0, 0.5));
    expect(best()).toMatchObject({ version: 0, score: 0.5 });
  });

  it('says nothing of records that are no evaluation', async () => {
    const { session } = await open(DROP);
    expect(await session.heed({ type: 'summary', v: 1, command: 'dart-curate' })).toBe(false);
    expect(await session.heed({ type: 'sample', v: 1 })).toBe(false);
  });
});

describe('a run that goes back', () => {
  /** Groups of two steps, with evaluations between them: the start is good, version 2 is not, later ones are. */
  function* input(): Generator<ReadRecord> {
    const group = (id: number) =>
      [0, 1].map((i) =>
        makeSample({
          ...{ group_id: `g${id}`, group_steps: 2, trajectory_id: `t${i}`, advantage: i === 0 ? 1 : -1, entropy: null },
          step: makeStep(0, { token_ids: [(id + i) % 4, 3], logprobs: [-1, -1.5] }, `${'0f'[i]}`.repeat(64)),
        }),
      );
    const evaluations: Record<number, AnyRecord> = { 0: score(0, 0.6), 2: score(2, 0.1), 4: score(4, 0.55) };
    for (let id = 0; id < 6; id++) {
      if (evaluations[id]) yield { line: 1, where: 'x', record: evaluations[id]! };
      for (const record of group(id)) yield { line: 1, where: 'x', record };
    }
  }

  async function train(folder: string, dieAt: (record: AnyRecord) => boolean = () => false) {
    const objective = { kind: 'policy', policy: { ...PRESETS.grpo.objective, keepEntropy: 0.5 } } as const;
    const config: TrainingConfig = {
      ...{ objective, learner: { ...SETTINGS, minibatches: 2 }, batchSamples: 1, batchGroups: 1, minReward: 1 },
      ...{ limits: { maxUpdates: null, maxSamples: null }, publishEvery: 1, baseSha256: 'base', rollback: DROP },
    };
    const record = async (written: AnyRecord) => {
      if (dieAt(written)) throw new Error('killed');
    };
    const silent = { progress: () => {}, note: () => {}, warn: () => {} };
    return runTraining(
      (async function* () {
        yield* input();
      })(),
      config,
      {
        engine: new LocalEngine(new LinearModel(4), { ...LOCAL, objective }, { frames, reference: null }),
        publisher: new Publisher({ dir: join(dir, folder), runId: 'r', keep: 9, store: null }),
        output: { record, ...silent },
        passOn: async () => {},
        onBadRecord: (error) => {
          throw error;
        },
        signal: new AbortController().signal,
      },
    );
  }

  it.each([
    ['before the version that it goes back with', (r: AnyRecord) => r.event === 'rolled_back'],
    ['after it', (r: AnyRecord) => r.type === 'checkpoint' && r.version === 3],
    ['two updates later', (r: AnyRecord) => r.type === 'checkpoint' && r.version === 5],
  ])('ends at the same bytes when it is killed %s', async (_when, dieAt) => {
    expect(await train('whole')).toMatchObject({ version: 7, updates: 6, rollbacks: 1, groups: 6 });
    await expect(train('killed', dieAt)).rejects.toThrow('killed');
    expect(await train('killed')).toMatchObject({ version: 7, updates: 6, rollbacks: 1, groups: 6 });
    for (const name of ['weights.safetensors', 'optimizer.safetensors', 'state.json', 'manifest.json']) {
      const [whole, killed] = ['whole', 'killed'].map((folder) =>
        readFileSync(join(dir, folder, 'versions/000007', name)),
      );
      expect(killed!.equals(whole!)).toBe(true);
    }
  });
});

describe('a guard', () => {
  it('keeps the update that broke it out of the folder, and says which version was the last good one', async () => {
    const guards = new Guards([{ metric: 'train/tokens', comparison: '>=', limit: 2, updates: 2 }]);
    const { session, learn, events, told } = await open(DROP, { guards });
    await learn('a');
    expect(session.limit()).toBeNull();
    await learn('b');
    await session.publish();
    expect(session.limit()).toBe('stop-if tokens>=2 for 2');
    expect(listVersions(dir)).toEqual([0, 1]);
    expect(told.map(({ groups }) => groups)).toEqual([[], ['a']]);
    expect(events('stopped_by_guard')).toEqual([
      {
        ...{ type: 'event', v: 1, event: 'stopped_by_guard', rule: 'tokens>=2 for 2', value: 2, since: 1, update: 2 },
        ...{ last_good_version: 0, newest_version: 1 },
      },
    ]);
    expect(session.summary(session.limit()!, {})).toMatchObject({
      ...{ version: 1, last_good_version: 0, updates: 1, samples: 2, groups: 1 },
    });
  });

  it.each([
    ['is kept before anybody hears of it', false, { version: 0, rule: 'tokens>0', value: 2, since: 1, update: 1 }],
    ['keeps the update back also where that cannot be kept', true, null],
  ])('%s', async (_name, broken, wanted) => {
    const guards = new Guards([{ metric: 'train/tokens', comparison: '>', limit: 0, updates: 1 }]);
    const { session, learn, out, warnings } = await open(DROP, { guards });
    const file = join(dir, 'stopped.json');
    if (broken) mkdirSync(join(file, 'x'), { recursive: true });
    const seen: unknown[] = [];
    out.push = (record) =>
      seen.push(record.event, existsSync(file) && !broken && JSON.parse(readFileSync(file, 'utf8')));
    const learned = learn('a');
    if (broken) await expect(learned).rejects.toThrow('cannot write: it is a folder');
    else await learned;
    await session.publish();
    expect(listVersions(dir)).toEqual([0]);
    expect(seen.includes('stopped_by_guard')).toBe(!broken);
    if (wanted === null) return expect(warnings).toEqual([]);
    expect(seen.slice(seen.indexOf('stopped_by_guard'))).toEqual(['stopped_by_guard', wanted]);
    expect(warnings).toEqual([expect.stringMatching(/^stopped by --stop-if tokens>0: 2 at update 1, /)]);
  });

  it('calls a value infinite that no record can hold', async () => {
    const guards = new Guards([{ metric: 'train/grad_norm', comparison: '>', limit: 5, updates: 1 }]);
    const { session, learn, events, warnings } = await open(DROP, { guards });
    const update = session.learner.update.bind(session.learner);
    session.learner.update = async (batch) => ({ ...(await update(batch)), gradNorm: Number.POSITIVE_INFINITY });
    await learn('a');
    expect(events('stopped_by_guard')).toMatchObject([{ value: null, update: 1 }]);
    expect(warnings).toEqual([
      expect.stringMatching(/^stopped by --stop-if grad_norm>5: an infinite value at update 1, which/),
    ]);
  });
});
