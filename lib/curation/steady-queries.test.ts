import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storedTaskRecords, taskBaselines } from '../store/baselines.ts';
import { experienceEntries, pooledTrajectories, removeExperience } from '../store/experience_entries.ts';
import { openStore, type Store, StoreTrouble } from '../store/index.ts';
import { Steady } from '../store/steady.ts';
import { Store as PlainStore } from '../store/store.ts';
import { trajectory } from '../store/trajectories.testing.ts';
import { forPool } from './import/pool.ts';
import { StoreInput } from './store-input.ts';
import { failuresByOutcome, readTaskFacts } from './task-facts.ts';

/** Queries that are no methods of the store: they wait for one that is away as its methods do. */
let store: Store;
let lost = 0;
beforeEach(async () => {
  lost = 0;
  store = await openStore('sqlite::memory:');
  await store.insertTrajectories([trajectory({ id: 'a', reward: 1 }), trajectory({ id: 'b', reward: 0, index: 1 })]);
  await store.addExperience([trajectory({ id: 'demo', reward: 1 })], { capacity: 8, experience: true });
});
afterEach(() => store.close());

/** The same store over a connection that breaks at the first try of each query. */
function breaking(): Store {
  let isWhole = true;
  const begin = ['selectFrom', 'deleteFrom'];
  const db = new Proxy(store.db, {
    get(target, name) {
      const found = Reflect.get(target, name);
      if (!begin.includes(String(name))) return typeof found === 'function' ? found.bind(target) : found;
      return (...args: unknown[]) => {
        isWhole = !isWhole;
        if (isWhole) return found.apply(target, args);
        lost += 1;
        throw new StoreTrouble('away', 'the connection was lost');
      };
    },
  });
  const steady = new Steady({ place: 'db', patienceMs: 60_000, notify: () => {} });
  const context = { db, now: () => 0 } as ConstructorParameters<typeof PlainStore>[0]['context'];
  return new PlainStore({ context, steady, rescue: null });
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const QUERIES: [string, (store: Store) => Promise<unknown>][] = [
  ['taskBaselines', (from) => all(taskBaselines(from))],
  ['storedTaskRecords', (from) => all(storedTaskRecords(from))],
  ['experienceEntries', (from) => experienceEntries(from, 'chrome/t1')],
  ['pooledTrajectories', (from) => all(pooledTrajectories(from))],
  ['StoreInput', (from) => all(new StoreInput(from, { rollout_seq: 0, gaps: [{ seq: 1, looks: 1 }] }).batches())],
  ['forPool', (from) => forPool(from, [trajectory({ id: 'demo', reward: 1 })], 8)],
  ['failuresByOutcome', (from) => failuresByOutcome(from, ['chrome/t1'])],
  ['readTaskFacts', (from) => readTaskFacts(from, 'chrome/t1', { window: 16 })],
  ['removeExperience', (from) => removeExperience(from, [1])],
];

describe('a query over a connection that breaks', () => {
  it.each(QUERIES)('is asked again: %s', async (name, ask) => {
    const isRepeatable = name !== 'removeExperience';
    const expected = isRepeatable ? await ask(store) : 1;
    expect(await ask(breaking())).toEqual(expected);
    expect(lost).toBeGreaterThan(0);
  });
});
