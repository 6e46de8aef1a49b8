import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { EmbeddedDriver } from '../environment/embedded.ts';
import { FakeGuest } from '../environment/fake.testing.ts';
import { EnvironmentPool } from '../environment/pool.ts';
import { DartError } from '../errors.ts';
import { someTask } from '../policy/request.testing.ts';
import { KeptInFile, openStore, StoreTrouble } from '../store/index.ts';
import { BlobStore } from '../stream/blobs.ts';
import { parseRecord } from '../stream/parse.ts';
import type { Trajectory } from '../stream/records.ts';
import { runSession, type SessionOptions } from './session.ts';
import { stoppingOf } from './stopping.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-session-'));
afterAll(() => rmSync(folder, { recursive: true }));

const tasks = [someTask('os/a'), someTask('os/b'), someTask('os/c')];

async function session(more: Partial<SessionOptions> = {}, desktops = 1) {
  const environments = new EnvironmentPool([new EmbeddedDriver(desktops, (id) => new FakeGuest(id))]);
  const written: Trajectory[] = [];
  const messages: string[] = [];
  const controller = new AbortController();
  const blobs = new BlobStore(join(folder, 'blobs'));
  const options: SessionOptions = {
    runId: 'run',
    tasks,
    environments,
    policy: 'fixed:fail',
    workers: 2,
    rollouts: 2,
    follow: false,
    mode: 'async',
    batchGroups: 2,
    versionWaitMs: 10,
    sync: 'one',
    syncIntervalMs: 1,
    seed: 1,
    evaluation: false,
    dynamicRollouts: false,
    dynamicLength: false,
    limits: { minSteps: 5, maxSteps: 4, slack: 2 },
    successWindow: 16,
    sampling: { temperature: 1 },
    onParseError: 'observe',
    failAtLimit: false,
    blobs,
    store: null,
    write: async (trajectory) => {
      written.push(trajectory);
      if (written.length === 20) controller.abort();
    },
    notes: { warn: (text) => messages.push(text), info: () => {}, progress: () => {} },
    stopping: stoppingOf(controller.signal, 1000, () => false),
    ...more,
  };
  const end = await runSession(options).finally(() => environments.close());
  return { end, written, messages, blobs };
}

describe('runSession', () => {
  it('gives each task its rollouts once, as records that the schema takes, with their screenshots', async () => {
    const { end, written, blobs } = await session();
    expect(written).toHaveLength(6);
    expect(new Set(written.map((record) => record.trajectory_id)).size).toBe(6);
    for (const record of written) {
      expect(parseRecord('trajectory', record, 'test')).toEqual(record);
      expect(blobs.has(record.steps[0]!.observation.screenshot.sha256)).toBe(true);
    }
    // The tasks are infeasible: saying fail is right.
    expect(end.tally.outcomes.success).toBe(6);
    expect(end.tally.meanReward).toBe(1);
    expect((await session({ policy: 'fixed:finished' })).end.tally.meanReward).toBe(0);
  });

  it('tells once why a store takes nothing', async () => {
    const store = await openStore(`sqlite:${join(folder, 'full.db')}`);
    store.insertTrajectories = async () => {
      throw new DartError('the disk is full', { where: 'full.db' });
    };
    const messages: string[] = [];
    const notes = { warn: (text: string) => messages.push(text), info: () => {}, progress: () => {} };
    await expect(session({ store, notes, rollouts: 20 }, 3)).rejects.toThrow('the disk is full');
    // It is thrown, and so told by the command.
    expect(messages.filter((text) => text.includes('the disk is full'))).toEqual([]);
    await store.close();
  });

  /** A store that becomes full: the second group cannot be planned while the first trajectory cannot be stored. */
  async function full(name: string, refusal: DartError) {
    const store = await openStore(`sqlite:${join(folder, name)}`);
    const reason = new StoreTrouble('stuck', 'no space left for the store');
    const plan = store.planAndLease.bind(store);
    let groups = 0;
    let refuse = (_: unknown) => {};
    const refused = new Promise((resolve) => {
      refuse = resolve;
    });
    let meet = (_: unknown) => {};
    const met = new Promise((resolve) => {
      meet = resolve;
    });
    store.insertTrajectories = async () => {
      meet(null);
      await refused;
      await nextTurn();
      throw refusal;
    };
    store.planAndLease = async (...given) => {
      if (++groups < 2) return plan(...given);
      await met;
      refuse(null);
      throw reason;
    };
    store.releaseLease = () => Promise.reject(reason);
    return { store, reason };
  }

  it('names the file of what a full store could not take, though it met that when it gave out work', async () => {
    const kept = new KeptInFile('full; kept in f', { path: 'f', trajectories: 1 });
    const { store } = await full('full2.db', kept);
    await expect(session({ store, window: 1 })).rejects.toThrow(kept.message);
    await store.close();
  });

  it('says what is lost where the run fails of something else', async () => {
    const lost = new DartError('1 trajectory could not be kept either', { where: 'full3.db' });
    const { store, reason } = await full('full3.db', lost);
    const messages: string[] = [];
    const notes = { warn: (text: string) => messages.push(text), info: () => {}, progress: () => {} };
    await expect(session({ store, notes, window: 1 })).rejects.toBe(reason);
    expect(messages).toEqual(['full3.db: 1 trajectory could not be kept either']);
    await store.close();
  });

  it('tells the first error of a kind with its task, once', async () => {
    const { end, messages } = await session({ policy: 'script' });
    expect(end.tally.outcomes.policy_error).toBe(6);
    expect(messages.filter((text) => text.startsWith('first '))).toHaveLength(1);
    expect(messages.at(0)).toMatch(/^first policy_error: os\/[abc]: (?!os).*expert/);
  });

  it('is the same again with one desktop and the same seed, but for times', async () => {
    const stable = async (seed: number) =>
      (await session({ policy: 'random', seed })).written.map(({ started_at, finished_at, steps, ...rest }) => ({
        ...rest,
        replies: steps.map((step) => step.response.text),
      }));
    const first = await stable(1);
    expect(await stable(1)).toEqual(first);
    expect(await stable(2)).not.toEqual(first);
    // Rollouts of a group begin alike and go different ways.
    const group = first.filter((record) => record.group_id === first[0]!.group_id);
    expect(group.map((record) => record.env_seed)).toEqual([group[0]!.env_seed, group[0]!.env_seed]);
    expect(group[0]!.replies).not.toEqual(group[1]!.replies);
  });

  it('for evaluation gives each rollout a desktop of its own, with a seed that training never uses', async () => {
    const { written } = await session({ evaluation: true, rollouts: 3 });
    const seeds = written.map((record) => record.env_seed!);
    expect(seeds).toHaveLength(9);
    expect(new Set(seeds).size).toBe(9);
    expect(Math.min(...seeds)).toBeGreaterThan(1_000_000);
  });

  it('with follow goes on until told to stop, fair over the tasks', async () => {
    const { written } = await session({ follow: true });
    expect(written.length).toBeGreaterThanOrEqual(20);
    const counts = tasks.map((task) => written.filter((record) => record.task_id === task.task_id).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(4);
  });

  it('resumes: what the store has is not done again', async () => {
    const store = await openStore('sqlite::memory:');
    const stop = new AbortController();
    const first: Trajectory[] = [];
    // So many that they cannot all have ended before the first two are written.
    await session({
      store,
      rollouts: 100,
      write: async (record) => {
        first.push(record);
        if (first.length === 2) stop.abort();
      },
      stopping: stoppingOf(stop.signal, 1000, () => false),
    });
    expect(first.length).toBeLessThan(300);
    const written: Trajectory[] = [];
    await session({ store, rollouts: 100, write: async (record) => void written.push(record) });
    const ids = [...first, ...written].map((record) => record.trajectory_id);
    expect(ids).toHaveLength(300);
    expect(new Set(ids).size).toBe(300);
    expect((await session({ store, rollouts: 100 })).written).toEqual([]);
    await store.close();
  });

  it('gives its leases back when it is told to stop: another session does what was abandoned, at once', async () => {
    const url = `sqlite:${join(folder, 'stopped.db')}`;
    const store = await openStore(url);
    const stop = new AbortController();
    const slow = new EnvironmentPool([
      new EmbeddedDriver(
        2,
        (id) =>
          new FakeGuest(id, {
            reset: () => {
              stop.abort();
              return new Promise((done) => setTimeout(done, 60));
            },
          }),
      ),
    ]);
    const first = await session({ store, environments: slow, stopping: stoppingOf(stop.signal, 0, () => false) });
    expect(first.written).toEqual([]);
    // The lease would last a minute.
    expect((await session({ store })).written).toHaveLength(6);
    await store.close();
  });

  it('tells what is used, every so often and at the end', async () => {
    const readings: number[] = [];
    const slow = () => new Promise<void>((done) => setTimeout(done, 5));
    const environments = new EnvironmentPool([new EmbeddedDriver(2, (id) => new FakeGuest(id, { reset: slow }))]);
    const { end } = await session({
      environments,
      notes: {
        warn: () => {},
        info: () => {},
        progress: () => {},
        usage: { everyMs: 1, take: ({ actions }) => readings.push(actions) },
      },
    });
    expect(end.usage).toMatchObject({ trajectories: 6, actions: end.tally.steps });
    expect(end.usage.desktop_busy_s).toBeGreaterThan(0);
    expect(end.usage.desktop_busy_s).toBeLessThanOrEqual(end.usage.desktop_held_s);
    expect(readings.length).toBeGreaterThan(0);
    expect(readings).toEqual([...readings].sort((a, b) => a - b));
  });

  it('plans fewer rollouts of tasks that succeed, through the store as without', async () => {
    const sizes = async (store: SessionOptions['store']) => {
      const { written } = await session({ store, follow: true, rollouts: 8, dynamicRollouts: true, window: 1 });
      return written.map((record) => record.group_size);
    };
    expect((await sizes(null)).slice(0, 18)).toEqual([...Array(8).fill(8), ...Array(8).fill(8), 8, 8]);
    const store = await openStore('sqlite::memory:');
    await session({ store, rollouts: 8 });
    expect(
      (await session({ store, follow: true, rollouts: 8, dynamicRollouts: true, runId: 'run' })).written[0]!.group_size,
    ).toBe(2);
    await store.close();
  });

  it('in batch mode says when no newer version came, and goes on', async () => {
    const { written, messages } = await session({ mode: 'batch', follow: true }, 2);
    expect(written.length).toBeGreaterThanOrEqual(20);
    expect(messages).toEqual([]);
    // Each batch of two groups of two is over before the next begins.
    const order = written.map((record) => record.group_id);
    for (let start = 0; start + 4 <= 20; start += 4) expect(new Set(order.slice(start, start + 4)).size).toBe(2);
  });

  it('abandons what is under way when the grace is over', async () => {
    const stop = new AbortController();
    const stopping = stoppingOf(stop.signal, 5, () => false);
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const reset = () => {
      stop.abort();
      return gate;
    };
    const environments = new EnvironmentPool([new EmbeddedDriver(2, (id) => new FakeGuest(id, { reset }))]);
    // Whenever the grace ends: nothing can be over before that.
    stopping.abort.addEventListener('abort', () => setImmediate(open));
    const { written } = await session({ environments, stopping });
    expect(written).toEqual([]);
    await environments.close();
  });
});
