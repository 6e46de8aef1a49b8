import { describe, expect, it } from 'vitest';
import { trajectory } from '../store/trajectories.testing.ts';
import type { AnyRecord, Trajectory } from '../stream/records.ts';
import { Curator } from './curator.ts';
import { privateLedger } from './ledger.ts';
import { MemoryPool } from './memory-pool.ts';
import { type CurationOptions, presetOptions } from './options.ts';
import { CurrentVersions } from './versions.ts';

function curator(changes: Partial<CurationOptions> = {}, hasScreenshot?: (sha: string) => boolean) {
  const options = { ...presetOptions('dart'), ...changes };
  const parts = {
    options,
    pool: new MemoryPool(options.poolCapacity),
    ledger: privateLedger,
    versions: new CurrentVersions(null),
  };
  return new Curator({ ...parts, hasScreenshot });
}

async function all(records: AsyncIterable<AnyRecord>): Promise<AnyRecord[]> {
  const list: AnyRecord[] = [];
  for await (const record of records) list.push(record);
  return list;
}

function take(one: Curator, trajectories: Trajectory[], now = 0) {
  return all(one.take(trajectories, now));
}

const reasons = (records: AnyRecord[]) =>
  records.map((record) => `${record.event ?? record.type} ${record.reason ?? ''}`.trim());

describe('Curator', () => {
  it('makes a sample of each step as soon as the group is whole', async () => {
    const one = curator();
    expect(await take(one, [trajectory({ id: 'a', index: 0, reward: 1, steps: 3 })])).toEqual([]);
    const samples = await take(one, [trajectory({ id: 'b', index: 1, steps: 1, version: 4 })]);
    expect(samples.map((s) => [s.trajectory_id, s.step_index, s.group_steps, s.behaviour_version, s.entropy])).toEqual([
      ['a', 0, 4, 0, 0.75],
      ['a', 1, 4, 0, 0.75],
      ['a', 2, 4, 0, 0.75],
      ['b', 0, 4, 4, 0.75],
    ]);
    expect(samples[2]!.history).toEqual(['a 0', 'a 1']);
    expect(samples[0]!.advantage).toBeCloseTo(Math.SQRT1_2, 5);
    expect(samples[3]!.advantage).toBeCloseTo(-Math.SQRT1_2, 5);
    expect(one.tally).toMatchObject({ trajectories: 2, groups: 1, samples: 4, injected: 0, unscoredTokens: 0 });
  });

  it('waits for no one who failed, but wants two who were scored', async () => {
    const one = curator();
    const records = await take(one, [
      trajectory({ id: 'a', index: 0, reward: 1 }),
      { ...trajectory({ id: 'b', index: 1, reward: null }), error: 'desktop gone' },
    ]);
    expect(reasons(records)).toEqual(['trajectory_rejected env_error', 'group_rejected too_few_scored']);
    expect(records[0]).toMatchObject({
      trajectory_id: 'b',
      group_id: 'g1',
      task_id: 'chrome/t1',
      error: 'desktop gone',
    });
    expect(one.tally.rejectedTrajectories).toEqual({ env_error: 1 });
    expect(one.tally.rejectedGroups).toEqual({ too_few_scored: 1 });
  });

  it('replaces the oldest failure by the newest success of the task', async () => {
    const one = curator();
    await take(one, [
      trajectory({ id: 'w1', group: 'g0', index: 0, reward: 1 }),
      trajectory({ id: 'w2', group: 'g0', index: 1, reward: 1, steps: 1, version: 3 }),
    ]);
    const [event, ...samples] = await take(one, [
      trajectory({ id: 'a', index: 0, minute: 9, version: 90, steps: 1 }),
      trajectory({ id: 'b', index: 1, minute: 2, version: 90, steps: 1 }),
    ]);
    expect(event).toMatchObject({ event: 'success_injected', group_id: 'g1', trajectory_id: 'w2', replaced: 'b' });
    expect(samples.map((s) => [s.trajectory_id, s.injected, s.group_id, s.reward])).toEqual([
      ['a', false, 'g1', 0],
      ['w2', true, 'g1', 1],
    ]);
    expect(one.tally.injected).toBe(1);
    expect(one.tally.rejectedGroups).toEqual({ all_succeeded: 1 });
  });

  it('says why an all-failed group is dropped', async () => {
    const failures = [trajectory({ id: 'a', index: 0 }), trajectory({ id: 'b', index: 1 })];
    expect(reasons(await take(curator(), failures))).toEqual(['group_rejected no_success_stored']);
    expect(reasons(await take(curator({ pool: 'off' }), failures))).toEqual(['group_rejected all_failed']);
    expect(await take(curator({ keepConstant: true }), failures)).toHaveLength(4);
  });

  it('drops what is too old when the group closes', async () => {
    const one = curator({ maxStaleness: 2, minScored: 2 });
    const records = await take(one, [
      trajectory({ id: 'a', size: 3, index: 0, version: 1, reward: 1 }),
      trajectory({ id: 'b', size: 3, index: 1, version: 2, reward: 1, steps: 1 }),
      trajectory({ id: 'c', size: 3, index: 2, version: 4, steps: 1 }),
    ]);
    expect(reasons(records)).toEqual(['trajectory_rejected stale', 'sample', 'sample']);
    expect(records[0]!.trajectory_id).toBe('a');
  });

  it('closes a group that waits too long with those it has, and turns away who comes late', async () => {
    const one = curator({ groupTimeoutMs: 1000 });
    await take(one, [trajectory({ id: 'a', size: 3, index: 0, reward: 1, steps: 1 })], 0);
    await take(one, [trajectory({ id: 'b', size: 3, index: 1, steps: 1 })], 500);
    expect(one.expired(1499)).toEqual([]);
    const [group] = one.expired(1500);
    expect(reasons(await all(one.close(group!)))).toEqual(['sample', 'sample']);
    expect(await all(one.close(group!))).toEqual([]);
    const late = await take(one, [trajectory({ id: 'c', size: 3, index: 2 })], 1600);
    expect(reasons(late)).toEqual(['trajectory_rejected late']);
    // The same once more is not late but a duplicate.
    const again = await take(one, [trajectory({ id: 'c', size: 3, index: 2 })], 1700);
    expect(reasons(again)).toEqual(['trajectory_rejected duplicate']);
  });

  it('rejects trajectories whose pictures are missing', async () => {
    const seen = trajectory({ id: 'a', index: 0, reward: 1 }).steps.map((step) => step.observation.screenshot.sha256);
    const one = curator({}, (sha) => seen.includes(sha));
    const records = await take(one, [trajectory({ id: 'a', index: 0, reward: 1 }), trajectory({ id: 'b', index: 1 })]);
    expect(reasons(records)).toEqual(['trajectory_rejected missing_screenshot', 'group_rejected too_few_scored']);
  });

  it('counts the steps that the trainer has to tokenise itself', async () => {
    const one = curator();
    await take(one, [
      trajectory({ id: 'a', index: 0, reward: 1, bare: true, steps: 3 }),
      trajectory({ id: 'b', index: 1 }),
    ]);
    expect(one.tally.stepsWithoutLogprobs).toBe(3);
    // Injected ones are counted in the event, too.
    const other = curator();
    await take(other, [trajectory({ id: 'demo', group: '', reward: 1, bare: true, steps: 3 })]);
    const [event] = await take(other, [trajectory({ id: 'c', index: 0 }), trajectory({ id: 'd', index: 1 })]);
    expect(event).toMatchObject({ event: 'success_injected', replaced: 'c', steps_without_logprobs: 3 });
  });

  it('says which members were drawn to go, and keeps the only success', async () => {
    const one = curator({ maxGroup: 2 });
    const four = [0, 1, 2, 3].map((index) =>
      trajectory({ id: `m${index}`, index, size: 4, steps: 1, reward: index === 2 ? 1 : 0 }),
    );
    const records = await take(one, four);
    expect(reasons(records)).toEqual([
      'trajectory_rejected trimmed',
      'trajectory_rejected trimmed',
      'sample',
      'sample',
    ]);
    expect(one.tally.rejectedTrajectories).toEqual({ trimmed: 2 });
    const ids = records.map((record) => record.trajectory_id);
    expect([...ids].sort()).toEqual(['m0', 'm1', 'm2', 'm3']);
    expect(ids.slice(2)).toContain('m2');
  });

  it('puts no success into the pool that an error or a missing picture makes worthless', async () => {
    const failures = [trajectory({ id: 'a', index: 0 }), trajectory({ id: 'b', index: 1 })];
    const broken = { ...trajectory({ id: 'x', group: 'gx', reward: 1 }), outcome: 'evaluator_error' as const };
    const seen = failures.flatMap((one) => one.steps.map((step) => step.observation.screenshot.sha256));
    const one = curator({}, (sha) => seen.includes(sha));
    const blind = trajectory({ id: 'y', group: 'gy', reward: 1 });
    const empty = trajectory({ id: 'z', group: 'gz', reward: 1, steps: 0 });
    const records = await take(one, [broken, blind, empty, ...failures]);
    expect(reasons(records)).toEqual([
      'trajectory_rejected evaluator_error',
      'trajectory_rejected missing_screenshot',
      'trajectory_rejected no_steps',
      'group_rejected no_success_stored',
    ]);
  });

  it('tells once of a sampler whose log-probabilities are not the policy’s, and counts its steps', async () => {
    const one = curator();
    const cut = (id: string, index: number, group: string) => ({
      ...trajectory({ id, index, group, reward: index, steps: 3 }),
      sampling: { temperature: 0.7, top_p: 0.9, top_k: -1, frequency_penalty: 1 },
    });
    const records = await take(one, [cut('a', 0, 'g1'), cut('b', 1, 'g1'), cut('c', 0, 'g2'), cut('d', 1, 'g2')]);
    expect(records.filter((record) => record.type === 'event')).toEqual([
      {
        type: 'event',
        v: 1,
        event: 'sampler_bias',
        run_id: 'run1',
        policy: 'onnx',
        settings: ['top_p=0.9', 'frequency_penalty=1'],
      },
    ]);
    expect(records[1]).toMatchObject({ type: 'sample', temperature: 0.7, top_p: 0.9, top_k: -1 });
    expect(one.tally.stepsWithSamplerBias).toBe(12);
    const plain = curator();
    await take(plain, [trajectory({ id: 'a', index: 0, reward: 1 }), trajectory({ id: 'b', index: 1 })]);
    expect(plain.tally.stepsWithSamplerBias).toBe(0);
  });

  it('answers the same however the input is cut into batches', async () => {
    const input = [0, 1, 2, 3].flatMap((group) =>
      [0, 1].map((index) =>
        trajectory({ id: `${group}.${index}`, group: `g${group}`, index, reward: group === 1 ? index : 0 }),
      ),
    );
    const whole = await take(curator(), input);
    const one = curator();
    const single: AnyRecord[] = [];
    for (const trajectory of input) single.push(...(await take(one, [trajectory])));
    expect(JSON.stringify(single)).toBe(JSON.stringify(whole));
    expect(reasons(whole).filter((reason) => reason.startsWith('group'))).toEqual(['group_rejected no_success_stored']);
  });
});

describe('MemoryPool', () => {
  it('keeps the newest few of each task, each episode once', async () => {
    const pool = new MemoryPool(2);
    const [a, b, c] = ['a', 'b', 'c'].map((id) => trajectory({ id, reward: 1 }));
    expect(await pool.add([a!, a!, { ...a!, trajectory_id: 'copy' }])).toBe(1);
    await pool.add([b!, c!]);
    expect((await pool.newest('chrome/t1'))?.trajectory_id).toBe('c');
    expect((await pool.any('chrome/t1', 0))?.trajectory_id).toBe('b');
    expect((await pool.any('chrome/t1', 3))?.trajectory_id).toBe('c');
    expect(await pool.newest('gimp/t1')).toBeNull();
  });
});

describe('CurrentVersions', () => {
  it('takes the highest that anybody speaks of', async () => {
    const versions = new CurrentVersions(null);
    expect(await versions.current('run1')).toBeNull();
    versions.trajectory(trajectory({ id: 'a', version: 3 }));
    versions.checkpoint({ type: 'checkpoint', v: 1, version: 7, path: 'p', run_id: 'run1' });
    versions.checkpoint({ type: 'checkpoint', v: 1, version: 5, path: 'p', run_id: 'run1' });
    expect(await versions.current('run1')).toBe(7);
    expect(await versions.current('run2')).toBeNull();
    versions.checkpoint({ type: 'checkpoint', v: 1, version: 9, path: 'p' });
    expect(await versions.current('run2')).toBe(9);
  });
});
