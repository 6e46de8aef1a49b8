import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../store/index.ts';
import { type Sketch, trajectory } from '../store/trajectories.testing.ts';
import type { AnyRecord } from '../stream/records.ts';
import { Curator } from './curator.ts';
import { StoreLedger } from './ledger.ts';
import { CurationLoop } from './loop.ts';
import { presetOptions } from './options.ts';
import { StorePool } from './store-pool.ts';
import { CurrentVersions } from './versions.ts';

/** A curator that is started again over a store, before anything comes through its pipe. */
let store: Store;
let now = 1_000_000;
beforeEach(async () => {
  now = 1_000_000;
  store = await openStore('sqlite::memory:', { now: () => now });
});
afterEach(() => store.close());

const DEAD = `${hostname()}/999999999/x`;
const pair = (group: string, changes: Partial<Sketch> = {}) =>
  [0, 1].map((index) => trajectory({ id: `${group}.${index}`, group, index, reward: index, steps: 1, ...changes }));

async function curate(owner: string, records: AnyRecord[], runId?: string): Promise<string[]> {
  const options = presetOptions('dart');
  const versions = new CurrentVersions(store);
  const ledger = new StoreLedger(store, { owner, ttlMs: 1000 }, options);
  const curator = new Curator({ options, pool: new StorePool(store, 8), ledger, versions });
  const written: AnyRecord[] = [];
  const loop = new CurationLoop({
    curator,
    versions,
    store,
    recovery: { store, ledger, curator, versions, options, runId },
    write: async (record) => {
      written.push(record);
    },
    onBadRecord: (error): never => {
      throw error;
    },
    signal: new AbortController().signal,
  });
  await loop.run(
    (async function* () {
      for (const record of records) yield [{ line: 1, record, where: 'input:1' }];
    })(),
  );
  return written.map((record) => `${record.reason ?? record.type} ${record.group_id}`);
}
const G1 = ['sample g1', 'sample g1'];
const G2 = ['sample g2', 'sample g2'];

describe('CurationLoop over an empty input', () => {
  it('hands on again what a process that died had handed on, once', async () => {
    await curate(DEAD, pair('g1'));
    expect(await curate('me', [])).toEqual(G1);
    expect(await curate('another', [])).toEqual([]);
  });

  it('waits for the lease of one that may be alive', async () => {
    await curate('other', pair('g1'));
    expect(await curate('me', [])).toEqual([]);
    now += 1001;
    expect(await curate('me', [])).toEqual(G1);
  });

  it('leaves alone what was learned from, and gives up what is too old', async () => {
    await curate(DEAD, [...pair('g1'), ...pair('g2')]);
    await store.publishVersion({ run_id: 'run1', version: 20, path: 'p', groups: ['g1'] });
    expect(await curate('me', [])).toEqual(['stale g2']);
  });

  it('takes up all runs of the store, each by its own versions, or the one that is named', async () => {
    await curate(DEAD, [...pair('g1'), ...pair('g2', { run: 'run2', task: 'os/b' })]);
    await store.publishVersion({ run_id: 'run1', version: 20, path: 'p', groups: [] });
    expect(await curate('other', [], 'run2')).toEqual(G2);
    now += 1001;
    expect(await curate('me', [])).toEqual(['stale g1', ...G2]);
  });
});
