import { describe, expect, it } from 'vitest';
import { someTask } from '../policy/request.testing.ts';
import { awaitCoupling } from './coupling.ts';
import type { Group } from './planner.ts';

const group = (group_id: string): Group => ({
  group_id,
  task: someTask(),
  size: 2,
  members: [0, 1],
  seed: 1,
  maxSteps: 5,
});
const batch = ['a', 'b', 'c'].map(group);

/** A trainer that publishes a version for each of these lists of groups, one at each look. */
function trainer(...updates: string[][]) {
  const settled = new Set<string>();
  let looks = 0;
  let loaded = 0;
  return {
    loads: () => loaded,
    options: {
      waitMs: 60_000,
      intervalMs: 1,
      settled: async () => settled,
      toLatest: async () => {
        const update = updates[looks++];
        if (!update) return false;
        for (const id of update) settled.add(id);
        loaded += 1;
        return true;
      },
      stop: new AbortController().signal,
    },
  };
}

describe('awaitCoupling', () => {
  it('goes on with the version learned from the whole batch, in however many updates', async () => {
    const one = trainer(['a', 'b', 'c']);
    expect(await awaitCoupling(batch, one.options)).toEqual({ state: 'coupled' });
    expect(one.loads()).toBe(1);
    const three = trainer(['a'], ['c'], ['b']);
    expect(await awaitCoupling(batch, three.options)).toEqual({ state: 'coupled' });
    expect(three.loads()).toBe(3);
  });

  it('says how much of the batch was not learned from when the wait is over', async () => {
    const part = trainer(['a', 'b']);
    const end = await awaitCoupling(batch, { ...part.options, waitMs: 20 });
    expect(end).toEqual({ state: 'late', newer: true, unsettled: 1 });
    expect(await awaitCoupling(batch, { ...trainer().options, waitMs: 5 })).toEqual({
      ...{ state: 'late', newer: false, unsettled: 3 },
    });
  });

  it('takes the first newer version where nobody keeps account of groups', async () => {
    expect(await awaitCoupling(batch, { ...trainer(['a']).options, settled: null })).toEqual({ state: 'coupled' });
    const untold = { ...trainer([]).options, settled: async () => new Set<string>() };
    expect(await awaitCoupling(batch, untold)).toEqual({ state: 'coupled' });
  });

  it('ends when told to stop', async () => {
    const stop = AbortSignal.abort();
    expect(await awaitCoupling(batch, { ...trainer().options, stop })).toEqual({ state: 'stopped' });
  });
});
