import { hostname } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from './open.ts';
import { newOwner } from './owner.ts';
import type { Store } from './store.ts';
import { STORES } from './stores.testing.ts';
import { trajectory } from './trajectories.testing.ts';

describe.each(STORES)('on $name', (stores) => {
  let store: Store;
  let url = '';
  let now = 0;

  beforeAll(() => stores.start());
  afterAll(() => stores.stop());
  beforeEach(async () => {
    now = 1_000_000;
    url = await stores.fresh();
    store = await openStore(url, { now: () => now });
  });
  afterEach(() => store.close());

  const lease = (owner: string) => ({ owner, ttlMs: 1000 });
  const group = (id: string, reason?: string) => ({
    group_id: id,
    run_id: 'run1',
    task_id: 'chrome/t1',
    size: 2,
    reason,
    members: reason
      ? []
      : [
          { trajectory_id: 'a', position: 0, reward: 1, advantage: 0.7, injected: true },
          { trajectory_id: 'b', position: 1, reward: 0, advantage: -0.7, injected: false },
        ],
  });

  describe('groups', () => {
    beforeEach(async () => {
      await store.insertTrajectories([trajectory({ id: 'a', reward: 1 }), trajectory({ id: 'b' })]);
    });

    it('are decided once; the first decision stands', async () => {
      expect(await store.insertGroup(group('g1'), lease('me'))).toBe(true);
      expect(await store.insertGroup(group('g1', 'all_failed'), lease('you'))).toBe(false);
      const answer = await store.leaseGroup('g1', lease('me'));
      expect(answer).toEqual({ status: 'leased', group: { ...group('g1'), reason: undefined } });
      expect(await store.leaseGroup('nobody', lease('me'))).toEqual({ status: 'absent' });
      await store.insertGroup(group('g2', 'all_failed'));
      expect(await store.leaseGroup('g2', lease('me'))).toEqual({ status: 'rejected', reason: 'all_failed' });
    });

    it('belong to one owner until the lease ends, and come again when nobody acknowledged them', async () => {
      await store.insertGroup(group('g1'), lease('me'));
      expect(await store.leaseGroup('g1', lease('you'))).toEqual({ status: 'held' });
      expect(await store.leaseGroups(lease('you'))).toEqual([]);
      now += 1001;
      expect((await store.leaseGroups(lease('you'))).map((one) => one.group_id)).toEqual(['g1']);
      expect(await store.leaseGroups(lease('me'))).toEqual([]);
    });

    it('are free at once when their owner was a process of this machine and is gone', async () => {
      await store.insertGroup(group('g1'), lease(`${hostname()}/999999999/x`));
      await store.insertGroup(group('g2'), lease(`elsewhere/999999999/x`));
      await store.insertGroup(group('g3'), lease(`${hostname()}/${process.pid}/x`));
      expect((await store.leaseGroups(lease('me'))).map((one) => one.group_id)).toEqual(['g1']);
      // The same process number in another container, or before the machine was started again, is another process.
      await store.insertGroup(group('g4'), lease(`${hostname()}/999999999/x.01234567`));
      await store.insertGroup(group('g5'), lease(newOwner().replace(`/${process.pid}/`, '/999999999/')));
      expect((await store.leaseGroups(lease('me'))).map((one) => one.group_id)).toEqual(['g5']);
    });

    it('never come again once a version learned from them is published', async () => {
      await store.insertGroup(group('g1'), lease('me'));
      await store.insertGroup(group('g2'), lease('me'));
      const version = { run_id: 'run1', version: 1, path: 'versions/000001', groups: ['g1'] };
      expect(await store.publishVersion(version)).toEqual({ isNew: true, overruled: [] });
      now += 5000;
      expect((await store.leaseGroups(lease('you'))).map((one) => one.group_id)).toEqual(['g2']);
      expect(await store.leaseGroup('g1', lease('you'))).toEqual({ status: 'acknowledged', version: 1 });
      expect(await store.finishedGroups(['g1', 'g2'])).toEqual(new Set(['g1']));
      expect(await store.acknowledge(['g2'], { reason: 'stale' })).toBe(1);
      expect(await store.acknowledge(['g2'])).toBe(0);
      expect(await store.groupCounts('run1')).toEqual([
        { state: 'acknowledged', reason: null, groups: 1 },
        { state: 'acknowledged', reason: 'stale', groups: 1 },
      ]);
    });

    it('that were closed while they were learned from are recorded as learned, and told', async () => {
      for (const id of ['open', 'stale', 'learned']) await store.insertGroup(group(id));
      await store.insertGroup(group('failed', 'all_failed'));
      await store.acknowledge(['stale'], { reason: 'stale' });
      await store.publishVersion({ run_id: 'run1', version: 1, path: 'v1', groups: ['learned'] });
      const ids = ['open', 'stale', 'learned', 'failed'];
      expect([...(await store.closedGroups(ids))].sort()).toEqual([
        ['failed', 'all_failed'],
        ['learned', 'already_learned'],
        ['stale', 'stale'],
      ]);
      const version = { run_id: 'run1', version: 2, path: 'v2', groups: ids };
      const { overruled } = await store.publishVersion(version);
      expect(overruled).toEqual([
        { group_id: 'failed', reason: 'all_failed' },
        { group_id: 'learned', reason: 'already_learned' },
        { group_id: 'stale', reason: 'stale' },
      ]);
      const columns = ['group_id', 'state', 'reason', 'learned_version'] as const;
      const rows = await store.db.selectFrom('training_group').select(columns).orderBy('group_id').execute();
      expect(rows).toEqual([
        { group_id: 'failed', state: 'acknowledged', reason: null, learned_version: 2 },
        { group_id: 'learned', state: 'acknowledged', reason: null, learned_version: 1 },
        { group_id: 'open', state: 'acknowledged', reason: null, learned_version: 2 },
        { group_id: 'stale', state: 'acknowledged', reason: null, learned_version: 2 },
      ]);
      // A curator that finds it stale only now changes nothing any more.
      expect(await store.acknowledge(['open'], { reason: 'stale' })).toBe(0);
    });

    it('leases only groups of the run that is asked for, oldest first, as many as are wanted', async () => {
      for (const id of ['g1', 'g2', 'g3']) {
        now += 1;
        await store.insertGroup(group(id));
      }
      await store.insertGroup({ ...group('other'), run_id: 'run2' });
      const leased = await store.leaseGroups(lease('me'), { run_id: 'run1', limit: 2 });
      expect(leased.map((one) => one.group_id)).toEqual(['g1', 'g2']);
    });

    it('that are planned are neither leased nor open to anybody, until they are decided', async () => {
      const { members: _, ...plan } = group('g1');
      await store.planGroups([plan, plan]);
      expect(await store.leaseGroups(lease('me'))).toEqual([]);
      expect(await store.leaseGroup('g1', lease('me'))).toEqual({ status: 'absent' });
      expect(await store.insertGroup(group('g1'), lease('me'))).toBe(true);
      expect((await store.leaseGroup('g1', lease('me'))).status).toBe('leased');
    });
  });

  describe('versions', () => {
    it('know the newest of each run', async () => {
      expect(await store.latestVersion('run1')).toBeNull();
      for (const version of [1, 2, 10]) {
        await store.publishVersion({ run_id: 'run1', version, path: `v${version}`, groups: [], metrics: { loss: 1 } });
      }
      now += 1;
      await store.publishVersion({ run_id: 'run2', version: 3, path: 'w3', groups: [] });
      expect(await store.latestVersion('run1')).toEqual({ run_id: 'run1', version: 10, path: 'v10' });
      expect((await store.latestVersion())?.path).toBe('w3');
    });

    it('take the same version twice, but not from two trainers', async () => {
      const version = { run_id: 'run1', version: 1, path: 'here', groups: [] };
      expect(await store.publishVersion(version)).toMatchObject({ isNew: true });
      expect(await store.publishVersion(version)).toMatchObject({ isNew: false });
      await expect(store.publishVersion({ ...version, path: 'there' })).rejects.toThrow(
        'version 1 is already published at here',
      );
    });

    it('publish all or nothing', async () => {
      await store.insertGroup({ ...group('g1'), members: [] });
      await store.publishVersion({ run_id: 'run1', version: 1, path: 'here', groups: [] });
      const clash = { run_id: 'run1', version: 1, path: 'there', groups: ['g1'] };
      await expect(store.publishVersion(clash)).rejects.toThrow();
      expect(await store.finishedGroups(['g1'])).toEqual(new Set());
    });
  });

  describe('work leases', () => {
    const items = [0, 1, 2].map((rollout_index) => ({ group_id: 'g1', rollout_index }));

    it('give each item to one owner until the lease ends', async () => {
      expect(await store.leaseWork(items.slice(0, 2), 'me', 1000)).toEqual(items.slice(0, 2));
      expect(await store.leaseWork(items, 'you', 1000)).toEqual([items[2]]);
      expect(await store.liveWork('g1')).toEqual([0, 1, 2]);
      now += 800;
      expect(await store.renewLease('me', 1000)).toBe(2);
      now += 800;
      expect(await store.liveWork('g1')).toEqual([0, 1]);
      expect(await store.leaseWork(items, 'you', 1000)).toEqual([items[2]]);
    });

    it('never give out members of a group that is decided', async () => {
      await store.insertGroup(group('g1', 'too_few_scored'));
      expect(await store.leaseWork(items, 'me', 1000)).toEqual([]);
    });

    it('never give out what has been finished, but do give out what failed', async () => {
      await store.insertTrajectories([
        trajectory({ id: 'a', group: 'g1', index: 0 }),
        trajectory({ id: 'b', group: 'g1', index: 1, reward: null }),
      ]);
      expect(await store.leaseWork(items, 'me', 1000)).toEqual([items[1], items[2]]);
      await store.releaseLease('me', [items[1]!]);
      expect(await store.liveWork('g1')).toEqual([2]);
      await store.releaseLease('me');
      expect(await store.liveWork('g1')).toEqual([]);
    });

    it('are planned with their group, and end with what was stored, also where it was there already', async () => {
      const planned = { group_id: 'g1', run_id: 'run1', task_id: 'chrome/t1', size: 3 };
      expect(await store.planAndLease(planned, lease('me'))).toEqual({ size: 3, maxSteps: null, members: [0, 1, 2] });
      expect(await store.planAndLease(planned, lease('you'))).toEqual({ size: 3, maxSteps: null, members: [] });
      const first = trajectory({ id: 'a', group: 'g1', index: 0 });
      const second = trajectory({ id: 'b', group: 'g1', index: 1 });
      await store.insertTrajectories([first], { doneBy: 'you' });
      expect(await store.liveWork('g1')).toEqual([0, 1, 2]);
      await store.insertTrajectories([first], { doneBy: 'me' });
      expect(await store.liveWork('g1')).toEqual([1, 2]);
      await store.insertTrajectories([second], { doneBy: 'me' });
      expect(await store.liveWork('g1')).toEqual([2]);
    });

    it('are those that a group was begun with, whatever is planned later', async () => {
      const planned = (size: number) => ({ group_id: 'g1', run_id: 'run1', task_id: 'chrome/t1', size });
      await store.planAndLease(planned(3), lease('me'));
      const done = trajectory({ id: 'a', group: 'g1', index: 1, size: 3 });
      await store.insertTrajectories([{ ...done, limits: { max_steps: 12 } }], { doneBy: 'me' });
      await store.releaseLease('me');
      expect(await store.planAndLease(planned(8), lease('you'))).toEqual({ size: 3, maxSteps: 12, members: [0, 2] });
      expect((await store.planAndLease(planned(2), lease('you'))).members).toEqual([0, 2]);
    });

    it('are as many as the first one says of its group where nobody announced that', async () => {
      await store.insertTrajectories([trajectory({ id: 'a', group: 'g1', index: 0, size: 2 })]);
      const planned = { group_id: 'g1', run_id: 'run1', task_id: 'chrome/t1', size: 8 };
      expect(await store.planAndLease(planned, lease('me'))).toEqual({ size: 2, maxSteps: 30, members: [1] });
    });
  });

  describe('abandoned groups', () => {
    const plan = (group_id: string) => ({ group_id, run_id: 'run1', task_id: 'chrome/t1', size: 2 });

    it('are those planned in this store that nobody living is working on', async () => {
      await store.planGroups(['idle', 'busy', 'dead', 'late'].map(plan));
      await store.leaseWork([{ group_id: 'busy', rollout_index: 1 }], 'me', 9000);
      await store.leaseWork([{ group_id: 'dead', rollout_index: 1 }], `${hostname()}/999999999/x`, 9000);
      await store.leaseWork([{ group_id: 'late', rollout_index: 1 }], 'me', 10);
      now += 11;
      expect(await store.abandonedGroups(['idle', 'busy', 'dead', 'late', 'elsewhere'])).toEqual(
        new Set(['idle', 'dead', 'late']),
      );
      expect(await store.leaseWork([{ group_id: 'dead', rollout_index: 1 }], 'me', 10)).toHaveLength(1);
    });
  });

  describe('experience', () => {
    const success = (id: string, reply = id, bare = false) => trajectory({ id, reward: 1, reply, bare });

    it('keeps the newest few of a task', async () => {
      expect(
        await store.addExperience(
          ['a', 'b', 'c'].map((id) => success(id)),
          { capacity: 2 },
        ),
      ).toBe(3);
      expect(await store.experienceIds('chrome/t1')).toEqual(['c', 'b']);
      expect((await store.newestSuccess('chrome/t1'))?.trajectory_id).toBe('c');
      expect(await store.newestSuccess('gimp/t1')).toBeNull();
    });

    it('keeps the same episode once, rather with log-probabilities than without', async () => {
      const add = (id: string, bare: boolean) => store.addExperience([success(id, 'same', bare)], { capacity: 8 });
      expect(await add('demo', true)).toBe(1);
      expect(await add('demo', true)).toBe(0);
      expect(await store.experienceCounts()).toEqual([
        { task_id: 'chrome/t1', domain: 'chrome', successes: 1, unscored: 1 },
      ]);
      expect(await add('sampled', false)).toBe(1);
      expect(await add('demo2', true)).toBe(0);
      expect(await store.experienceIds('chrome/t1')).toEqual(['sampled']);
      expect((await store.experienceCounts())[0]!.unscored).toBe(0);
    });
  });

  describe('the other tables', () => {
    it('keep runs, tasks, workers, their synchronisations, desktops and cursors', async () => {
      await store.registerRun({ run_id: 'run1' });
      await store.registerRun({ run_id: 'run1', command: 'dart-rollout', config: { n: 8 } });
      await store.registerRun({ run_id: 'run1', command: 'dart-train' });
      expect(await store.db.selectFrom('run').select(['command', 'config_json']).execute()).toEqual([
        { command: 'dart-rollout', config_json: '{"n":8}' },
      ]);
      await store.insertTrajectories([trajectory({ id: 'a' })]);
      const task = {
        type: 'task',
        v: 1,
        task_id: 'chrome/t1',
        domain: 'chrome',
        id: 't1',
        instruction: 'open',
        evaluator: { func: 'x' },
      } as const;
      await store.upsertTasks([task]);
      expect(await store.listTasks()).toEqual([{ task_id: 'chrome/t1', domain: 'chrome', instruction: 'open' }]);

      const worker = { worker_id: 'w0', run_id: 'run1', policy: 'onnx', state: 'serving', version: 0 };
      await store.upsertWorker(worker);
      await store.upsertWorker({ ...worker, state: 'draining' });
      const id = await store.startSync({ worker_id: 'w0', from_version: 0, to_version: 1 });
      await store.finishSync(id, { drain_ms: 5, load_ms: 7 });
      expect(await store.db.selectFrom('worker').select(['state', 'version']).execute()).toEqual([
        { state: 'draining', version: 0 },
      ]);
      const [sync] = await store.db.selectFrom('worker_sync').selectAll().execute();
      expect(sync).toMatchObject({
        worker_id: 'w0',
        to_version: 1,
        drain_ms: 5,
        load_ms: 7,
        error: null,
        finished_at: now,
      });

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
      await store.upsertEnvironment('run1', env);
      await store.upsertEnvironment('run1', { ...env, state: 'failed' }, 2);
      expect(await store.db.selectFrom('environment').select(['state', 'failures']).execute()).toEqual([
        { state: 'failed', failures: 2 },
      ]);
      // Another process of the run has a desktop of the same name.
      const other = await openStore(url, { now: () => now });
      await other.upsertEnvironment('run1', env);
      await other.close();
      const desktops = await store.db.selectFrom('environment').select(['env_id', 'state']).orderBy('state').execute();
      expect(desktops).toEqual([
        { env_id: 'e0', state: 'failed' },
        { env_id: 'e0', state: 'ready' },
      ]);

      expect(await store.readCursor('nightly')).toBeNull();
      await store.writeCursor('nightly', { line: 3 });
      await store.writeCursor('nightly', { line: 9 });
      expect(await store.readCursor('nightly')).toEqual({ line: 9 });
    });
  });
});
