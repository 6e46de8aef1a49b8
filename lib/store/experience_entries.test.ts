import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storedTaskRecords, taskBaselines } from './baselines.ts';
import { experienceEntries, pooledTrajectories, removeExperience } from './experience_entries.ts';
import { openStore } from './open.ts';
import type { Store } from './store.ts';
import { STORES } from './stores.testing.ts';
import { trajectory } from './trajectories.testing.ts';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe.each(STORES)('the pool, entry by entry, on $name', (stores) => {
  let store: Store;
  beforeAll(() => stores.start());
  afterAll(() => stores.stop());
  beforeEach(async () => {
    store = await openStore(await stores.fresh());
  });
  afterEach(() => store.close());

  const success = (id: string, task = 'os/a', bare = false) => trajectory({ id, task, reward: 1, steps: 1, bare });

  it('lists, hands out and removes entries in the order of arrival', async () => {
    const records = [success('a1'), success('b1', 'os/b', true), success('a2')];
    await store.addExperience(records, { capacity: 8, experience: true });
    const entries = await experienceEntries(store);
    expect(entries.map(({ trajectory_id, scored }) => [trajectory_id, scored])).toEqual([
      ['a1', true],
      ['b1', false],
      ['a2', true],
    ]);
    expect(entries.every(({ added_at }) => Math.abs(added_at - Date.now()) < 600_000)).toBe(true);
    expect(await all(pooledTrajectories(store))).toEqual(records);
    expect(await all(pooledTrajectories(store, 'os/b'))).toEqual([records[1]]);
    expect(await removeExperience(store, [entries[0]!.experience_seq, entries[1]!.experience_seq])).toBe(2);
    expect(await removeExperience(store, [entries[0]!.experience_seq])).toBe(0);
    expect((await experienceEntries(store, 'os/a')).map((entry) => entry.trajectory_id)).toEqual(['a2']);
    expect(await store.trajectory('a1')).toEqual(records[0]);
  });

  it('tells what each rollout came to, imports only by the name of their run', async () => {
    await store.insertTrajectories([
      trajectory({ id: 'x', reward: 1 }),
      trajectory({ id: 'y', reward: null }),
      trajectory({ id: 'z', reward: 0, run: 'run2' }),
    ]);
    await store.insertTrajectories([trajectory({ id: 'demo', reward: 1, run: 'demos' })], { experience: true });
    const task = { task_id: 'chrome/t1', domain: 'chrome' };
    expect(await all(taskBaselines(store))).toEqual([
      { ...task, reward: 1 },
      { ...task, reward: null },
      { ...task, reward: 0 },
    ]);
    expect(await all(taskBaselines(store, 'run2'))).toEqual([{ ...task, reward: 0 }]);
    expect(await all(taskBaselines(store, 'demos'))).toEqual([{ ...task, reward: 1 }]);
    expect(await all(storedTaskRecords(store))).toEqual([]);
  });
});
