import { describe, expect, it } from 'vitest';
import type { ReadRecord } from '../stream/reader.ts';
import { makeSample, makeStep } from '../stream/records.testing.ts';
import type { AnyRecord } from '../stream/records.ts';
import { makeLearner } from './learner.testing.ts';
import { type OnlineOptions, trainOnSamples } from './online.ts';
import { PRESETS } from './presets.ts';
import type { Publisher } from './publisher.ts';
import { Session } from './session.ts';
import type { SessionLimits } from './session_options.ts';
import { freshState } from './state.ts';

/** A group of `steps` one-token replies by two trajectories: token 0 won, token 1 lost. */
function group(id: string, steps: number, fields: Partial<ReturnType<typeof makeSample>> = {}): AnyRecord[] {
  return Array.from({ length: steps }, (_, i) => {
    const won = i % 2 === 0;
    return makeSample({
      group_id: id,
      group_steps: steps,
      trajectory_id: `${id}-${won ? 'won' : 'lost'}`,
      step_index: i,
      advantage: won ? 1 : -1,
      reward: won ? 1 : 0,
      entropy: i + 1,
      step: makeStep(i, { token_ids: [won ? 0 : 1], logprobs: [Math.log(0.25)] }),
      ...fields,
    });
  });
}

async function* reading(records: AnyRecord[]): AsyncGenerator<ReadRecord> {
  for (const [i, record] of records.entries()) yield { line: i + 1, record, where: `x:${i + 1}` };
}

async function train(
  input: AsyncIterable<ReadRecord>,
  options: Partial<OnlineOptions> & {
    limits?: Partial<SessionLimits>;
    groups?: string[];
    publisher?: Pick<Publisher, 'closed' | 'passOver' | 'publish'>;
  } = {},
) {
  const { learner, model } = makeLearner();
  const out: AnyRecord[] = [];
  const passed: AnyRecord[] = [];
  const warnings: string[] = [];
  const output = {
    record: async (record: AnyRecord) => void out.push(record),
    progress: () => {},
    note: () => {},
    warn: (line: string) => void warnings.push(line),
  };
  const limits = { maxUpdates: null, maxSamples: null, ...options.limits };
  const state = { ...freshState(''), groups: options.groups ?? [] };
  const session = new Session(learner, state, {
    limits,
    publishEvery: 1,
    output,
    publisher: (options.publisher as Publisher) ?? null,
  });
  const summary = await trainOnSamples(session, input, {
    objective: { ...PRESETS.grpo.objective, keepEntropy: options.objective?.keepEntropy ?? 1 },
    batchSamples: 4,
    batchGroups: null,
    passOn: async (record) => void passed.push(record),
    onBadRecord: (error) => {
      throw error;
    },
    signal: new AbortController().signal,
    ...options,
  });
  const metric = (name: string) => out.filter((r) => r.name === name).map((r) => r.value);
  return { model, learner, session, summary, passed, metric, warnings };
}

describe('trainOnSamples', () => {
  it('updates whenever enough steps of whole groups are there, and flushes half a batch at the end', async () => {
    const records = ['a', 'b', 'c'].flatMap((id) => group(id, 2));
    const { metric, summary, session } = await train(reading(records));
    expect(metric('train/groups')).toEqual([2, 1]);
    expect(metric('train/kept_steps')).toEqual([4, 2]);
    expect(metric('train/reward_mean')).toEqual([0.5, 0.5]);
    expect(session.state).toMatchObject({ updates: 2, samples: 6, tokens: 6, groups: ['a', 'b', 'c'] });
    expect(summary).toMatchObject({ stopped: 'end-of-input', steps_left: 0 });
  });

  it('warns once of steps that could not be scored, with the first of them', async () => {
    const alone = (id: string, response: Parameters<typeof makeStep>[1]) =>
      group(id, 4).map((record, i) =>
        i === 1 ? { ...record, step: makeStep(i, { text: 'a', ...response }) } : record,
      );
    const learned = 'they are learned from with importance weight 1, and counted as train/unscored_tokens. Try: ';
    const where = 'tokens could not be scored in 1 of 4 steps, the first x:2 (a-lost step 1), where';
    for (const [response, why] of [
      [{ token_ids: [1], logprobs: [null] }, 'logprobs are missing'],
      [{ token_ids: [1], logprobs: [-1, -1] }, 'logprobs are missing'],
      [{ token_ids: [99_999, 1], logprobs: [-1, -1] }, 'its token_ids are no reply of this policy'],
      [{ token_ids: [], logprobs: [] }, 'its token_ids are no reply of this policy'],
    ] as const) {
      const spoilt = (id: string) =>
        alone(id, { token_ids: [...response.token_ids], logprobs: [...response.logprobs] });
      const { warnings, session } = await train(reading([...spoilt('a'), ...spoilt('b')]));
      expect(session.state.updates).toBe(2);
      expect(warnings).toEqual([expect.stringContaining(`${where} ${why}: ${learned}`)]);
    }
    expect((await train(reading(group('a', 4)))).warnings).toEqual([]);
  });

  it('warns of an update that was skipped', async () => {
    const { warnings, session } = await train(reading(group('a', 4, { advantage: 1e300 })));
    expect(warnings).toEqual(['an update of 4 steps was skipped: the loss or its gradient was not finite']);
    expect(session.state).toMatchObject({ updates: 0, groups: ['a'] });
  });

  it('acknowledges with a version what is in it, and passes over the groups of a skipped update with the reason', async () => {
    const told: unknown[] = [];
    const publisher: Pick<Publisher, 'closed' | 'passOver' | 'publish'> = {
      closed: async () => new Map(),
      passOver: async (groups, reason) => void (groups.length > 0 && told.push([reason, [...groups]])),
      publish: async (_parameters, state, { groups }) => {
        told.push([`version ${state.updates}`, groups]);
        return { checkpoint: { type: 'checkpoint', v: 1, version: state.updates, path: 'p' }, overruled: [] };
      },
    };
    const records = [...group('a', 4), ...group('bad', 4, { advantage: 1e300 }), ...group('c', 4)];
    const { session } = await train(reading(records), { publisher });
    expect(told).toEqual([
      ['version 1', ['a']],
      ['not_finite', ['bad']],
      ['version 2', ['c']],
    ]);
    // Not taken again by this trainer, so that one that was interrupted ends at the same bytes.
    expect(session.state.groups).toEqual(['a', 'bad', 'c']);
  });

  it('leaves less than half a batch for another time', async () => {
    const { summary, session } = await train(reading(group('a', 2)), { batchSamples: 5 });
    expect(summary).toMatchObject({ steps_left: 2 });
    expect(session.state).toMatchObject({ updates: 0, groups: [] });
  });

  it('counts groups instead of steps when asked to', async () => {
    const records = ['a', 'b', 'c', 'd'].flatMap((id) => group(id, 4));
    const { metric } = await train(reading(records), { batchGroups: 2 });
    expect(metric('train/groups')).toEqual([2, 2]);
  });

  it('holds what is not whole, passes on what it does not know', async () => {
    const task = { type: 'task', v: 1, task_id: 'x' };
    const records = [...group('a', 4).slice(0, 3), task, ...group('b', 4)];
    const { metric, summary, passed } = await train(reading(records));
    expect(metric('train/groups_held')).toEqual([1]);
    expect(summary.groups_held).toBe(1);
    expect(passed).toEqual([task]);
  });

  it('never learns from a group twice', async () => {
    const records = [...group('a', 4), ...group('b', 4), ...group('b', 4)];
    const { metric, summary } = await train(reading(records), { groups: ['a'] });
    expect(metric('train/groups')).toEqual([1]);
    expect(summary.samples_repeated).toBe(8);
  });

  it('learns from the steps of high entropy only', async () => {
    const objective = { ...PRESETS.grpo.objective, keepEntropy: 0.8 };
    // Entropies 1 … 5, the 0.2 quantile is 1.8: four are kept.
    const { metric } = await train(reading(group('a', 5)), { objective });
    expect(metric('train/steps')).toEqual([5]);
    expect(metric('train/kept_steps')).toEqual([4]);
    expect(metric('train/entropy_threshold')[0]).toBeCloseTo(1.8, 12);
  });

  it('reports staleness of the steps that the policy itself made', async () => {
    const records = [
      ...group('a', 4),
      ...group('b', 4, { behaviour_version: 0 }),
      ...group('c', 4, { behaviour_version: 0, injected: true }),
    ];
    const { metric } = await train(reading(records));
    expect(metric('train/staleness_mean')).toEqual([0, 1, null]);
    expect(metric('train/staleness_max')).toEqual([0, 1, null]);
    expect(metric('train/injected_steps')).toEqual([0, 0, 4]);
  });

  it('rejects a group of which nothing can be used, and passes it over', async () => {
    const useless = group('a', 1, { step: makeStep(0, { text: '?' }) });
    const { metric, summary, session } = await train(reading([...useless, ...group('b', 4)]));
    expect(metric('train/groups_rejected')).toEqual([1]);
    expect(metric('train/groups_rejected/unspelt')).toEqual([1]);
    expect(summary.groups_rejected).toBe(1);
    expect(session.state.groups).toEqual(['a', 'b']);
  });

  it('says why nothing was learned, where there was something to learn from', async () => {
    const empty = { step: makeStep(0, { text: '', token_ids: [], logprobs: [] }) };
    const records = [...group('a', 2, empty), ...group('b', 2, empty), ...group('c', 3).slice(0, 2)];
    const { warnings } = await train(reading(records));
    expect(warnings).toEqual([
      'nothing could be learned: 2 groups unspelt (docs/metrics.md)',
      '1 group not whole, such as c with 2 of 3 steps',
    ]);
  });

  it('counts by reason what dart-curate left out since the last update', async () => {
    const left = (reason?: string) => ({ type: 'event', v: 1, event: 'group_rejected', reason }) as AnyRecord;
    const records = [left('all_failed'), left('all_failed'), left('stale'), left(), ...group('a', 4)];
    const { metric, summary, passed } = await train(reading([...records, left('all_succeeded'), ...group('b', 4)]));
    expect(metric('train/groups_rejected')).toEqual([4, 1]);
    expect(metric('train/groups_rejected/all_failed')).toEqual([2, 0]);
    expect(metric('train/groups_rejected/stale')).toEqual([1, 0]);
    expect(metric('train/groups_rejected/other')).toEqual([1, 0]);
    expect(metric('train/groups_rejected/all_succeeded')).toEqual([0, 1]);
    expect(summary.groups_rejected).toBe(5);
    expect(passed).toHaveLength(5);
  });

  it('stops at its limits', async () => {
    const records = ['a', 'b', 'c'].flatMap((id) => group(id, 4));
    expect((await train(reading(records), { limits: { maxUpdates: 2 } })).session.state.updates).toBe(2);
    const some = await train(reading(records), { limits: { maxSamples: 4 } });
    expect([some.session.state.updates, some.summary.stopped]).toEqual([1, 'max-samples']);
    const none = await train(reading(records), { limits: { maxUpdates: 0 } });
    expect([none.session.state.updates, none.summary.stopped]).toEqual([0, 'max-updates']);
  });

  it('stops while it waits for input', async () => {
    const controller = new AbortController();
    async function* endless(): AsyncGenerator<ReadRecord> {
      yield* reading(group('a', 4));
      // What came has been learned from before more is asked for.
      setImmediate(() => controller.abort());
      await new Promise(() => {});
    }
    const { summary, session } = await train(endless(), { signal: controller.signal });
    expect([summary.stopped, session.state.updates]).toEqual(['interrupted', 1]);
  });

  it('makes the winning token more likely', async () => {
    const records = Array.from({ length: 10 }, (_, i) => group(`g${i}`, 4)).flat();
    const { model } = await train(reading(records));
    const [won, lost] = model.weights.get('bias')!.data;
    expect(won! - lost!).toBeGreaterThan(1);
  });
});
