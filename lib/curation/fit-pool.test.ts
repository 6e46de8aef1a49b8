import { describe, expect, it } from 'vitest';
import { openStore } from '../store/index.ts';
import { trajectory } from '../store/trajectories.testing.ts';
import { Curator } from './curator.ts';
import { accepted } from './decide.ts';
import { fitPool, type PassedOver, type Unfit } from './fit-pool.ts';
import { privateLedger } from './ledger.ts';
import { MemoryPool } from './memory-pool.ts';
import { presetOptions } from './options.ts';
import { StorePool } from './store-pool.ts';
import { CurrentVersions } from './versions.ts';

const success = (id: string, steps = 1) => trajectory({ id, reward: 1, steps });

describe('fitPool', () => {
  it('passes over what does not fit for the next older one, in memory as in the store', async () => {
    const store = await openStore('sqlite::memory:');
    for (const pool of [new MemoryPool(8), new StorePool(store, 8)]) {
      await pool.add([success('a'), success('b'), success('c')]);
      const passedOver: PassedOver[] = [];
      const unfit: Unfit = ({ trajectory_id }) => (trajectory_id === 'a' ? null : 'missing_screenshot');
      const seen = fitPool(pool, unfit, passedOver);
      expect((await seen.newest('chrome/t1'))?.trajectory_id).toBe('a');
      expect(passedOver.map(({ success: { trajectory_id } }) => trajectory_id)).toEqual(['c', 'b']);
      // Place 4 of three is the second; from there downwards.
      expect((await seen.any('chrome/t1', 4))?.trajectory_id).toBe('a');
      expect(passedOver.slice(2).map(({ success: { trajectory_id } }) => trajectory_id)).toEqual(['b']);
      const none = fitPool(pool, () => 'no_steps', []);
      expect([await none.newest('chrome/t1'), await none.any('chrome/t1', 1)]).toEqual([null, null]);
      expect(await seen.newest('gimp/t1')).toBeNull();
    }
    await store.close();
  });

  it('around the end: after the oldest comes the newest', async () => {
    const pool = new MemoryPool(8);
    await pool.add([success('a'), success('b'), success('c')]);
    const seen = fitPool(pool, ({ trajectory_id }) => (trajectory_id === 'c' ? null : 'no_steps'), []);
    expect((await seen.any('chrome/t1', 0))?.trajectory_id).toBe('c');
  });
});

describe('a group that was decided earlier', () => {
  it('is not handed on without the screenshots of all its members, and says why', () => {
    const options = presetOptions('dart');
    const members = [success('a'), trajectory({ id: 'b', index: 1, steps: 1 })].map((one, i) => ({
      trajectory: { ...one, reward: one.reward! },
      injected: i === 0,
    }));
    const names = { group_id: 'g1', run_id: 'run1', task_id: 'chrome/t1', size: 2 };
    const lost = members[0]!.trajectory.steps[0]!.observation.screenshot.sha256;
    const of = (hasScreenshot: (sha256: string) => boolean) => {
      const pool = new MemoryPool(8);
      const curator = new Curator({
        options,
        pool,
        ledger: privateLedger,
        versions: new CurrentVersions(null),
        hasScreenshot,
      });
      return [...curator.handOn(accepted(names, members, options))].map((record) => record.reason ?? record.type);
    };
    expect(of((sha256) => sha256 !== lost)).toEqual(['missing_screenshot']);
    expect(of(() => true)).toEqual(['event', 'sample', 'sample']);
  });
});
