import { execaSync } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from './open.ts';
import { newOwner } from './owner.ts';
import { STORES } from './stores.testing.ts';

const HOUR = 3_600_000;
const env = {
  type: 'env',
  v: 1,
  env_id: 'e0',
  driver: 'embedded',
  state: 'ready',
  server_url: null,
  screen: { width: 160, height: 120 },
  boot_ms: 1,
} as const;

describe.each(STORES)('workers and desktops in a store on $name', (stores) => {
  let now = 0;
  let url = '';
  beforeAll(() => stores.start());
  afterAll(() => stores.stop());
  beforeEach(async () => {
    now = 10 * HOUR;
    url = await stores.fresh();
  });

  const open = (existing = false) => openStore(url, { now: () => now, existing });
  const worker = (worker_id: string, state = 'serving') => ({ worker_id, run_id: 'r', policy: 'p', state, version: 1 });

  async function states(existing = false) {
    const store = await open(existing);
    const workers = await store.db.selectFrom('worker').select(['worker_id', 'state']).execute();
    const desktops = await store.db.selectFrom('environment').select(['env_id', 'state', 'updated_at']).execute();
    await store.close();
    return { ...Object.fromEntries(workers.map((row) => [row.worker_id, row.state])), desktops };
  }

  it('of a process that was killed are lost for whoever opens the store next to write', async () => {
    const mine = newOwner();
    const pid = execaSync('sh', ['-c', 'echo $$']).stdout;
    const dead = mine.replace(`/${process.pid}/`, `/${pid}/`);
    const store = await open();
    await store.upsertWorker(worker(`${dead}/w0`));
    await store.upsertWorker(worker(`${dead}/w1`, 'loading'));
    await store.upsertWorker(worker(`${dead}/w2`, 'stopped'));
    await store.upsertWorker(worker(`${mine}/w0`));
    await store.upsertEnvironment('r', env);
    await store.db.updateTable('environment').set({ owner: dead }).execute();
    await store.upsertEnvironment('r', { ...env, env_id: 'e1' });
    await store.close();
    const before: Record<string, unknown> = await states(true);
    expect([before[`${dead}/w0`], before[`${dead}/w1`]]).toEqual(['serving', 'loading']);
    now += 1000;
    const { desktops, ...workers } = await states();
    expect(workers).toEqual({
      [`${dead}/w0`]: 'lost',
      [`${dead}/w1`]: 'lost',
      [`${dead}/w2`]: 'stopped',
      [`${mine}/w0`]: 'serving',
    });
    expect(desktops.sort((a, b) => a.env_id.localeCompare(b.env_id))).toEqual([
      { env_id: 'e0', state: 'lost', updated_at: 10 * HOUR },
      { env_id: 'e1', state: 'ready', updated_at: 10 * HOUR },
    ]);
  });

  it('of another machine are lost after an hour without a sign of life', async () => {
    const store = await open();
    await store.upsertWorker(worker('far/1/a/w0'));
    await store.upsertWorker(worker('far/2/b/w0'));
    await store.upsertEnvironment('r', env);
    now += HOUR;
    expect(await states()).toMatchObject({ 'far/1/a/w0': 'serving', 'far/2/b/w0': 'serving' });
    await store.showLife(['far/2/b/w0']);
    now += 1;
    expect(await states()).toMatchObject({
      'far/1/a/w0': 'lost',
      'far/2/b/w0': 'serving',
      desktops: [{ state: 'ready', updated_at: 11 * HOUR }],
    });
    await store.close();
  });
});
