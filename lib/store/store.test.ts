import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from './open.ts';
import type { Store } from './store.ts';
import { STORES } from './stores.testing.ts';
import { trajectory } from './trajectories.testing.ts';

describe.each(STORES)('on $name', (stores) => {
  let store: Store;
  let now = 1_000_000;

  beforeAll(() => stores.start());
  afterAll(() => stores.stop());
  beforeEach(async () => {
    now = 1_000_000;
    store = await openStore(await stores.fresh(), { now: () => now });
  });
  afterEach(() => store.close());

  describe('rollouts', () => {
    it('stores a trajectory once, whatever is retried, and gives it back as it was', async () => {
      const a = trajectory({ id: 'a', reward: 1 });
      const b = { ...trajectory({ id: 'b', index: 1 }), extra: { kept: [1, 2] } };
      expect(await store.insertTrajectories([a, b, a])).toBe(2);
      expect(await store.insertTrajectories([a, trajectory({ id: 'c' })])).toBe(1);
      expect(await store.trajectory('b')).toEqual(b);
      expect(await store.trajectory('nobody')).toBeNull();
      const steps = await store.db.selectFrom('rollout_step').selectAll().where('trajectory_id', '=', 'a').execute();
      expect(steps.map((step) => [step.step_index, step.tokens, step.entropy, step.actions])).toEqual([
        [0, 2, 0.75, 'click'],
        [1, 2, 0.75, 'click'],
      ]);
    });

    it('lets a rollout that was done again take the place of the error that it ended in', async () => {
      const failed = trajectory({ id: 'a', reward: null, steps: 5 });
      const again = trajectory({ id: 'a', reward: 1, steps: 3, reply: 'again' });
      expect(await store.insertTrajectories([failed, trajectory({ id: 'b' })])).toBe(2);
      expect(await store.insertTrajectories([again])).toBe(1);
      expect(await store.insertTrajectories([failed, trajectory({ id: 'a', reward: 0 })])).toBe(0);
      expect(await store.trajectory('a')).toEqual(again);
      expect(await store.countRollouts('run1')).toBe(2);
      const steps = await store.db
        .selectFrom('rollout_step')
        .select('step_index')
        .where('trajectory_id', '=', 'a')
        .execute();
      expect(steps).toHaveLength(3);
    });

    it('counts stored members by rollout index and finds what no group has closed', async () => {
      await store.insertTrajectories([
        trajectory({ id: 'a', group: 'g1', index: 0, reward: null }),
        trajectory({ id: 'a2', group: 'g1', index: 0 }),
        trajectory({ id: 'b', group: 'g1', index: 1 }),
        trajectory({ id: 'c', group: 'g2' }),
      ]);
      expect(await store.storedMembers(['g1', 'g2', 'g3'])).toEqual(
        new Map([
          ['g1', 2],
          ['g2', 1],
        ]),
      );
      await store.insertGroup({
        group_id: 'g1',
        run_id: 'run1',
        task_id: 'chrome/t1',
        size: 2,
        members: [],
        reason: 'x',
      });
      expect((await store.openTrajectories('run1')).map((t) => t.trajectory_id)).toEqual(['c']);
    });

    it('counts the rollouts of a run, without demonstrations', async () => {
      await store.insertTrajectories([trajectory({ id: 'a' }), trajectory({ id: 'b', index: 1 })]);
      await store.insertTrajectories([trajectory({ id: 'shown', group: 'experts' })], { experience: true });
      expect(await store.countRollouts('run1')).toBe(2);
      expect(await store.countRollouts('another')).toBe(0);
    });

    it('refuses a rollout whose parts refer to nothing', async () => {
      const row = { trajectory_id: 'x', step_index: 0, model_version: 0, tokens: 0, actions: '', screenshot: '' };
      const insert = store.db.insertInto('rollout_step').values({ ...row, policy_ms: 0, env_ms: 0 });
      await expect(insert.execute()).rejects.toThrow(/FOREIGN KEY/);
    });
  });

  describe('old rollouts', () => {
    const DAY = 86_400_000;
    const group = (id: string, members: string[], reason?: string) => ({
      group_id: id,
      run_id: 'run1',
      task_id: 'chrome/t1',
      size: 2,
      reason,
      members: members.map((trajectory_id, position) => ({
        ...{ trajectory_id, position, reward: 1, advantage: 0, injected: false },
      })),
    });
    const left = async () => {
      const rows = await store.db.selectFrom('rollout').select('trajectory_id').orderBy('trajectory_id').execute();
      return rows.map((row) => row.trajectory_id).join(' ');
    };

    beforeEach(async () => {
      // All but the last ended on the first of January.
      const ids = ['learned', 'rejected', 'loose', 'lent', 'pooled', 'waiting'];
      await store.insertTrajectories([
        ...ids.map((id) => trajectory({ id, group: `g-${id}`, reward: 1, steps: 3 })),
        trajectory({ id: 'young', group: 'g-young', minute: 60 * 24 * 8 }),
      ]);
      await store.addExperience([trajectory({ id: 'pooled', reward: 1, steps: 3 })], { capacity: 8 });
      await store.insertGroup(group('g-learned', ['learned', 'pooled']));
      await store.acknowledge(['g-learned'], { version: 1 });
      await store.insertGroup(group('g-rejected', [], 'no_variance'));
      await store.insertGroup(group('g-waiting', ['waiting', 'lent']));
      now = Date.UTC(2025, 0, 9);
    });

    it('are deleted, but not those that wait to be learned from, nor the pool', async () => {
      expect(await store.pruneRollouts({ olderThanMs: 7 * DAY })).toEqual({ rollouts: 3, experience: 0 });
      expect(await left()).toBe('lent pooled waiting young');
      expect((await store.leaseGroups({ owner: 'me', ttlMs: 1000 }))[0]!.members).toHaveLength(2);
      // The decision stands.
      expect(await store.insertGroup(group('g-learned', []))).toBe(false);
      const steps = await store.db.selectFrom('rollout_step').select('trajectory_id').distinct().execute();
      expect(steps).toHaveLength(4);
      expect(await store.pruneRollouts({ olderThanMs: 7 * DAY })).toEqual({ rollouts: 0, experience: 0 });
    });

    it('leave the pool where that is asked for', async () => {
      const pruned = await store.pruneRollouts({ olderThanMs: 7 * DAY, keepExperience: false });
      expect(pruned).toEqual({ rollouts: 4, experience: 1 });
      expect(await store.experienceIds('chrome/t1')).toEqual([]);
    });
  });

  describe('statistics', () => {
    it('means the newest scored rollouts and forgets older ones', async () => {
      const old = [1, 1, 1, 1].map((reward, i) => trajectory({ id: `old${i}`, reward, steps: 7 }));
      const recent = [0, 1, 0, 0.5].map((reward, i) => trajectory({ id: `new${i}`, reward, steps: 3 }));
      await store.insertTrajectories(old);
      await store.insertTrajectories([...recent, trajectory({ id: 'e', reward: null })]);
      const statistics = await store.taskStatistics(['chrome/t1', 'gimp/never'], 4);
      expect(statistics.get('chrome/t1')).toEqual({ scored: 4, success_rate: 0.375, longest_success: 7, failures: 1 });
      expect(statistics.get('gimp/never')).toEqual({
        scored: 0,
        success_rate: null,
        longest_success: null,
        failures: 0,
      });
      expect((await store.taskStatistics(['chrome/t1'], 16)).get('chrome/t1')!.success_rate).toBe(5.5 / 8);
    });

    it('leaves out demonstrations, and other runs where asked', async () => {
      await store.addExperience([trajectory({ id: 'demo', reward: 1, steps: 9, bare: true })], {
        capacity: 8,
        experience: true,
      });
      await store.insertTrajectories([
        trajectory({ id: 'a', run: 'run1', reward: 0 }),
        trajectory({ id: 'b', run: 'run2', reward: 1, steps: 4 }),
      ]);
      const all = (await store.taskStatistics(['chrome/t1'], 16)).get('chrome/t1');
      expect(all).toEqual({ scored: 2, success_rate: 0.5, longest_success: 4, failures: 0 });
      const one = (await store.taskStatistics(['chrome/t1'], 16, { run_id: 'run1' })).get('chrome/t1');
      expect(one).toEqual({ scored: 1, success_rate: 0, longest_success: null, failures: 0 });
    });

    it('answers for more tasks than one statement holds', async () => {
      const ids = Array.from({ length: 230 }, (_, i) => `os/t${i}`);
      await store.insertTrajectories(ids.map((task, i) => trajectory({ id: task, task, reward: i % 2 })));
      const statistics = await store.taskStatistics(ids, 16);
      expect(statistics.size).toBe(230);
      expect(statistics.get('os/t229')!.success_rate).toBe(1);
      expect(statistics.get('os/t228')!.success_rate).toBe(0);
    });
  });
});
