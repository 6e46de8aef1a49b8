import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeStep } from '../stream/records.testing.ts';
import { Outlet } from './outlet.ts';
import { Tally } from './tally.ts';

describe('Outlet', () => {
  it('delivers everything in order, what has gathered in one batch', async () => {
    const batches: number[][] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const outlet = new Outlet<number>(async (batch) => {
      batches.push(batch);
      await gate;
    });
    for (let i = 0; i < 5; i++) {
      await outlet.put(i);
      if (i === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    open();
    await outlet.flush();
    expect(batches).toEqual([[0], [1, 2, 3, 4]]);
    await outlet.put(5);
    await outlet.flush();
    expect(batches.at(-1)).toEqual([5]);
  });

  describe('between two deliveries', () => {
    afterEach(() => void vi.useRealTimers());

    const gathering = async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      const batches: number[][] = [];
      const outlet = new Outlet<number>(async (batch) => void batches.push(batch));
      const put = async (...records: number[]) => {
        for (const record of records) await outlet.put(record);
        await vi.advanceTimersByTimeAsync(0);
      };
      await put(1);
      await put(2);
      await put(3);
      expect(batches).toEqual([[1]]);
      return { batches, outlet, put };
    };

    it('lets records gather for half a second', async () => {
      const { batches } = await gathering();
      await vi.advanceTimersByTimeAsync(499);
      expect(batches).toEqual([[1]]);
      await vi.advanceTimersByTimeAsync(1);
      expect(batches).toEqual([[1], [2, 3]]);
    });

    it('waits no longer when asked for all, or when many have gathered', async () => {
      const { batches, outlet, put } = await gathering();
      await outlet.flush();
      expect(batches).toEqual([[1], [2, 3]]);
      const many = Array.from({ length: 64 }, (_, i) => i);
      await put(...many);
      expect(batches[2]).toEqual(many);
    });
  });

  it('holds producers up when 64 records wait', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const outlet = new Outlet<number>(() => gate);
    let accepted = 0;
    const producing = (async () => {
      for (let i = 0; i < 100; i++) {
        await outlet.put(i);
        accepted += 1;
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 5));
    // At most one batch is on its way and 64 wait.
    expect(accepted).toBeGreaterThanOrEqual(63);
    expect(accepted).toBeLessThan(100);
    open();
    await producing;
    await outlet.flush();
    expect(accepted).toBe(100);
  });

  it('tells every producer of a failed delivery', async () => {
    const outlet = new Outlet<number>(async () => {
      throw new Error('the disk is full');
    });
    await outlet.put(1);
    await expect(outlet.flush()).rejects.toThrow('the disk is full');
    await expect(outlet.put(2)).rejects.toThrow('the disk is full');
  });
});

describe('an outlet whose delivery failed', () => {
  it('hands over what was waiting, and what comes afterwards', async () => {
    const rescued: number[][] = [];
    let fail = () => {};
    const outlet = new Outlet<number>(
      () =>
        new Promise((_, reject) => {
          fail = () => reject(new Error('the store is gone'));
        }),
      async (rest) => {
        rescued.push(rest);
      },
    );
    await outlet.put(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    await outlet.put(2);
    await outlet.put(3);
    fail();
    await expect(outlet.flush()).rejects.toThrow('the store is gone');
    await expect(outlet.put(4)).rejects.toThrow('the store is gone');
    expect(rescued).toEqual([[2, 3], [4]]);
  });
});

describe('Tally', () => {
  it('counts outcomes; errors have no part in the success rate', () => {
    const tally = new Tally();
    const step = { ...makeStep(0, { token_ids: [1, 2, 3], logprobs: [-1, null, null] }), parse_error: 'no action' };
    tally.add({ outcome: 'failure', reward: 0, steps: [step, step] });
    for (let i = 0; i < 99; i++) tally.add({ outcome: 'success', reward: 1, steps: [makeStep(0)] });
    tally.add({ outcome: 'env_error', reward: null, steps: [] });
    expect([tally.trajectories, tally.scored, tally.errors, tally.steps, tally.parseErrors]).toEqual([
      101, 100, 1, 101, 2,
    ]);
    expect(tally.unscoredTokens).toBe(4);
    expect([tally.meanReward, tally.recentReward]).toEqual([0.99, 0.99]);
    tally.add({ outcome: 'success', reward: 1, steps: [] });
    // The failure, the oldest of now 101 scored ones, has left the last hundred.
    expect(tally.recentReward).toBe(1);
    expect(tally.outcomes).toMatchObject({ success: 100, failure: 1, env_error: 1, truncated: 0 });
  });
});
