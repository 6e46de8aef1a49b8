import { afterEach, describe, expect, it, vi } from 'vitest';
import { someTask } from '../policy/request.testing.ts';
import { KeptInFile, openStore, type Store, StoreTrouble } from '../store/index.ts';
import type { Trajectory } from '../stream/records.ts';
import { GroupPlanner } from './planner.ts';
import type { WorkItem } from './scheduler.ts';
import { StoreLink } from './store_link.ts';
import { TaskProgress } from './task_progress.ts';
import { trajectoryRecord } from './trajectory_record.ts';

const at = new Date('2026-01-01T00:00:00Z');
const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

async function memory(): Promise<Store> {
  const store = await openStore('sqlite::memory:');
  opened.push(store);
  return store;
}

function link(store: Store): StoreLink {
  return new StoreLink(store, {
    runId: 'run',
    window: 16,
    onError: (message) => {
      throw new Error(message);
    },
  });
}

const tasks = [someTask('os/a')];
function planner(progress: TaskProgress, sweeps = 1): GroupPlanner {
  return new GroupPlanner({
    tasks,
    rollouts: 4,
    seed: 1,
    runId: 'run',
    sweeps,
    dynamicRollouts: true,
    dynamicLength: true,
    limits: { minSteps: 1, maxSteps: 30, slack: 2 },
    progress,
  });
}

function scored(item: WorkItem, reward: number): Trajectory {
  const outcome = reward > 0 ? 'success' : 'failure';
  return trajectoryRecord({
    item,
    end: { steps: [], outcome, reward },
    runId: 'run',
    envId: 'e',
    policy: { name: 'fake', coordinates: 'absolute' },
    sampling: { temperature: 1 },
    started: at,
    finished: at,
  });
}

describe('StoreLink', () => {
  it('shares the rollouts of a group between processes, each done once', async () => {
    const store = await memory();
    const [one, two] = [link(store), link(store)];
    await one.begin(tasks, {});
    const group = await one.sharing(planner(new TaskProgress(16))).next();
    expect(group).toMatchObject({ group_id: 'run/os/a/0', size: 4, members: [0, 1, 2, 3] });
    const same = () => two.sharing(planner(new TaskProgress(16))).next();
    expect((await same())?.members).toEqual([]);
    await one.keep([scored({ group: group!, rolloutIndex: 0 }, 1), scored({ group: group!, rolloutIndex: 2 }, 0)]);
    // The first process goes away: what it did is done, the rest is free.
    await one.close();
    expect((await same())?.members).toEqual([1, 3]);
    await two.close();
  });

  it('makes only what a group lacks after a restart, with the size and the cap that it was begun with', async () => {
    const store = await memory();
    const before = link(store);
    await before.begin(tasks, {});
    const groups = before.sharing(planner(new TaskProgress(16, before), 3));
    // Nothing is known of the task: both groups are whole ones of 4, with 30 steps.
    const [first, second] = [(await groups.next())!, (await groups.next())!];
    expect([first, second]).toMatchObject([
      { group_id: 'run/os/a/0', size: 4, maxSteps: 30 },
      { group_id: 'run/os/a/1', size: 4, maxSteps: 30 },
    ]);
    await before.keep([0, 1, 2, 3].map((rolloutIndex) => scored({ group: first, rolloutIndex }, 1)));
    await before.keep([scored({ group: second, rolloutIndex: 2 }, 1)]);
    await before.close();
    const after = link(store);
    const resumed = after.sharing(planner(new TaskProgress(16, after), 3));
    // All succeeded, at once: from today on a group has 2 rollouts (9/1 − 7), and 2 steps.
    expect(await resumed.next()).toMatchObject({ group_id: 'run/os/a/0', size: 4, members: [] });
    expect(await resumed.next()).toMatchObject({ size: 4, maxSteps: 30, members: [0, 1, 3] });
    expect(await resumed.next()).toMatchObject({ group_id: 'run/os/a/2', size: 2, maxSteps: 2, members: [0, 1] });
    await after.close();
  });

  it('adds no rollout to a group that is whole, though the task is harder today', async () => {
    const store = await memory();
    const easy = new TaskProgress(16);
    easy.observe({ task_id: 'os/a', reward: 1, outcome: 'success', steps: [] });
    const before = link(store);
    await before.begin(tasks, {});
    const group = (await before.sharing(planner(easy)).next())!;
    expect(group).toMatchObject({ size: 2, members: [0, 1] });
    await before.keep([0, 1].map((rolloutIndex) => scored({ group, rolloutIndex }, 0)));
    await before.close();
    const after = link(store);
    const planned = planner(new TaskProgress(16, after));
    expect(await after.sharing(planned).next()).toMatchObject({ group_id: group.group_id, size: 2, members: [] });
    await after.close();
  });

  it('tells how tasks fare and which version is the newest', async () => {
    const store = await memory();
    const shared = link(store);
    await shared.begin(tasks, {});
    const group = (await shared.sharing(planner(new TaskProgress(16))).next())!;
    await shared.keep([1, 1, 1, 0].map((reward, rolloutIndex) => scored({ group, rolloutIndex }, reward)));
    expect((await shared.read(['os/a'])).get('os/a')).toMatchObject({ successRate: 0.75 });
    // 9/.75 − 7 = 5, but no more than the 4 asked for.
    const next = planner(new TaskProgress(16, shared), 2);
    expect(await next.next()).toMatchObject({ size: 4 });
    expect(await shared.latest()).toBeNull();
    await store.publishVersion({ run_id: 'run', version: 3, path: 'versions/3', groups: [] });
    expect(await shared.latest()).toMatchObject({ version: 3, path: 'versions/3' });
    await shared.close();
  });

  it('tells of a store that stays away once, with all files that trajectories went into', async () => {
    const store = await memory();
    const said: string[] = [];
    const shared = new StoreLink(store, { runId: 'run', window: 16, onError: (message) => said.push(message) });
    const gone = new StoreTrouble('away', 'the store stayed away for 60.1 s: no server answers there');
    let files = 0;
    vi.spyOn(store, 'insertTrajectories').mockImplementation(async (trajectories) => {
      const kept = { path: `/spool/${++files}.ndjson`, trajectories: trajectories.length };
      throw new KeptInFile(`${gone.message}; kept in ${kept.path}`, kept, { cause: gone });
    });
    vi.spyOn(store, 'upsertWorker').mockRejectedValue(gone);
    vi.spyOn(store, 'releaseLease').mockRejectedValue(gone);
    const group = (await planner(new TaskProgress(16)).next())!;
    const one = scored({ group, rolloutIndex: 0 }, 1);
    await expect(shared.keep([one, one])).rejects.toThrow('60.1 s: no server answers there; kept in /spool/1.ndjson');
    for (let i = 0; i < 3; i++) await shared.keep([one]);
    for (let i = 0; i < 3; i++) shared.noteWorker(`onnx-${i}`, 'onnx', 'stopped', 1);
    await expect(shared.close()).rejects.toThrow(
      /^the store stayed away for 60.1 s: no server answers there; 2 trajectories kept in .spool.1.ndjson; 1 trajectory kept in .spool.2.ndjson; 1 trajectory kept in .spool.3.ndjson; 1 trajectory kept in .spool.4.ndjson$/,
    );
    expect(said).toEqual([]);
  });

  it('names the files of trajectories, whatever else the full store refuses when the run ends', async () => {
    const store = await memory();
    const full = new StoreTrouble('stuck', 'no space left for the store (SQLITE_FULL)');
    const kept = new KeptInFile(`${full.message}; 1 trajectory kept in /spool/1.ndjson`, {
      path: '/spool/1.ndjson',
      trajectories: 1,
    });
    vi.spyOn(store, 'insertTrajectories').mockRejectedValue(kept);
    const release = vi.spyOn(store, 'releaseLease').mockRejectedValue(full);
    const group = (await planner(new TaskProgress(16)).next())!;
    const shared = link(store);
    await expect(shared.keep([scored({ group, rolloutIndex: 0 }, 1)])).rejects.toBe(kept);
    await expect(shared.close()).rejects.toBe(kept);
    expect(release).toHaveBeenCalledOnce();
    await expect(link(store).close()).rejects.toBe(full);
  });

  it('hands on what is stored, though the store is gone before the leases are given back', async () => {
    const store = await memory();
    const gone = new StoreTrouble('away', 'the store stayed away for 3 s: no server answers there');
    vi.spyOn(store, 'releaseLease').mockRejectedValue(gone);
    const said: string[] = [];
    const shared = new StoreLink(store, { runId: 'run', window: 16, onError: (message) => said.push(message) });
    await shared.begin(tasks, {});
    const group = (await planner(new TaskProgress(16)).next())!;
    await shared.keep([scored({ group, rolloutIndex: 0 }, 1)]);
    expect(await store.countRollouts('run')).toBe(1);
    await shared.close();
    expect(said).toEqual([gone.message]);
  });

  it('says that the store is gone where nobody else had to be told', async () => {
    const store = await memory();
    const said: string[] = [];
    const shared = new StoreLink(store, { runId: 'run', window: 16, onError: (message) => said.push(message) });
    vi.spyOn(store, 'releaseLease').mockRejectedValue(new StoreTrouble('away', 'the store stayed away for 60 s'));
    await shared.close();
    expect(said).toEqual(['the store stayed away for 60 s']);
  });

  it('gives a sign of life each minute until it is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const store = await memory();
    const shown = vi.spyOn(store, 'showLife');
    const shared = link(store);
    shared.noteWorker('onnx-0', 'onnx', 'serving', 1);
    vi.advanceTimersByTime(120_000);
    await shared.close();
    vi.advanceTimersByTime(120_000);
    vi.useRealTimers();
    const [row] = await store.db.selectFrom('worker').select('worker_id').execute();
    expect(shown.mock.calls).toEqual([[[row!.worker_id]], [[row!.worker_id]]]);
  });

  it('notes workers and their changes of version', async () => {
    const store = await memory();
    const shared = link(store);
    shared.noteWorker('onnx-0', 'onnx', 'serving', 1);
    shared.noteSync({ worker_id: 'onnx-0', from_version: 1, to_version: 2, drain_ms: 5, load_ms: 7 });
    shared.noteWorker('onnx-0', 'onnx', 'serving', 2);
    await shared.close();
    expect(await store.db.selectFrom('worker').select(['policy', 'state', 'version']).execute()).toEqual([
      { policy: 'onnx', state: 'serving', version: 2 },
    ]);
    expect(
      await store.db.selectFrom('worker_sync').select(['from_version', 'to_version', 'drain_ms']).execute(),
    ).toEqual([{ from_version: 1, to_version: 2, drain_ms: 5 }]);
  });
});
