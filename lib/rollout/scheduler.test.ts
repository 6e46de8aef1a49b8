import { describe, expect, it } from 'vitest';
import type { Task } from '../stream/records.ts';
import { BatchScheduler } from './batch.ts';
import { type Group, GroupPlanner, type PlannerOptions } from './planner.ts';
import { defaultWindow, type GroupSource, RolloutScheduler, type Scheduler, type WorkItem } from './scheduler.ts';
import { TaskProgress } from './task_progress.ts';

const task = (id: string): Task => ({
  type: 'task',
  v: 1,
  task_id: `os/${id}`,
  domain: 'os',
  id,
  instruction: 'do it',
  evaluator: { func: 'infeasible' },
});
const group = (name: string, size: number): Group => ({
  group_id: name,
  task: task(name),
  size,
  members: [...Array(size).keys()],
  seed: 1,
  maxSteps: 5,
});
function source(...groups: Group[]): GroupSource {
  return { next: async () => groups.shift() ?? null };
}
const label = (item: WorkItem | null) => (item ? `${item.group.group_id}${item.rolloutIndex}` : '-');
async function take(scheduler: Scheduler, count: number): Promise<string> {
  const items: string[] = [];
  for (let i = 0; i < count; i++) items.push(label(await scheduler.next()));
  return items.join(' ');
}

describe('RolloutScheduler', () => {
  it('interleaves the groups of its window; a finished group makes room for the next', async () => {
    const scheduler = new RolloutScheduler(source(group('a', 3), group('b', 2), group('c', 2)), 2);
    expect(await take(scheduler, 8)).toBe('a0 b0 a1 b1 a2 c0 c1 -');
  });

  it('is contiguous with a window of one, and round-robin with a wide one', async () => {
    const groups = () => source(group('a', 2), group('b', 2), group('c', 2));
    expect(await take(new RolloutScheduler(groups(), 1), 7)).toBe('a0 a1 b0 b1 c0 c1 -');
    expect(await take(new RolloutScheduler(groups(), 9), 7)).toBe('a0 b0 c0 a1 b1 c1 -');
  });

  it('leaves out what others do, and groups that others do whole', async () => {
    const partial = { ...group('b', 4), members: [1, 3] };
    const nothing = { ...group('x', 4), members: [] };
    const scheduler = new RolloutScheduler(source(group('a', 3), nothing, partial), 2);
    expect(await take(scheduler, 6)).toBe('a0 b1 a1 b3 a2 -');
  });

  it('gives each item once when many desktops ask at the same time', async () => {
    const scheduler = new RolloutScheduler(source(group('a', 3), group('b', 3)), 2);
    const items = await Promise.all(Array.from({ length: 7 }, () => scheduler.next()));
    expect(items.map(label).sort()).toEqual(['-', 'a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
  });

  it('keeps two rounds of the desktops open by default', () => {
    expect([defaultWindow(16, 8), defaultWindow(4, 8), defaultWindow(64, 8), defaultWindow(3, 1)]).toEqual([
      4, 2, 16, 6,
    ]);
  });
});

describe('BatchScheduler', () => {
  it('waits for the whole batch, then calls between, then plans the next', async () => {
    const log: string[] = [];
    const scheduler = new BatchScheduler(source(group('a', 2), group('b', 1), group('c', 1)), {
      groups: 2,
      between: async () => void log.push('sync'),
    });
    const batch = [await scheduler.next(), await scheduler.next(), await scheduler.next()] as WorkItem[];
    expect(batch.map(label)).toEqual(['a0', 'b0', 'a1']);
    const fourth = scheduler.next().then((item) => {
      log.push(label(item));
      return item!;
    });
    for (const item of batch) {
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`done ${label(item)}`);
      scheduler.done(item);
    }
    scheduler.done(await fourth);
    expect(log).toEqual(['done a0', 'done b0', 'done a1', 'sync', 'c0']);
    expect(await scheduler.next()).toBeNull();
  });
});

describe('GroupPlanner', () => {
  const tasks = ['a', 'b', 'c', 'd', 'e'].map(task);
  const progress = new TaskProgress(16);
  const options: PlannerOptions = {
    tasks,
    rollouts: 8,
    seed: 1,
    runId: 's',
    sweeps: Number.POSITIVE_INFINITY,
    dynamicRollouts: true,
    dynamicLength: true,
    limits: { minSteps: 5, maxSteps: 30, slack: 2 },
    progress,
  };
  async function plan(planner: GroupPlanner, count: number): Promise<Group[]> {
    const groups: Group[] = [];
    for (let i = 0; i < count; i++) groups.push((await planner.next())!);
    return groups;
  }

  it('takes each task once a sweep, in another order each time, the same for the same seed', async () => {
    const names = (groups: Group[]) => groups.map((one) => one.task.id).join('');
    const groups = await plan(new GroupPlanner(options), 20);
    const sweeps = [0, 5, 10, 15].map((start) => names(groups.slice(start, start + 5)));
    for (const sweep of sweeps) expect([...sweep].sort().join('')).toBe('abcde');
    expect(new Set(sweeps).size).toBeGreaterThan(1);
    expect(names(await plan(new GroupPlanner(options), 20))).toBe(names(groups));
    expect(names(await plan(new GroupPlanner({ ...options, seed: 2 }), 20))).not.toBe(names(groups));
  });

  it('ends after the last sweep', async () => {
    const planner = new GroupPlanner({ ...options, sweeps: 2 });
    await plan(planner, 10);
    expect(await planner.next()).toBeNull();
  });

  it('gives every group its own id and desktop seed; evaluation seeds lie above training seeds', async () => {
    const groups = await plan(new GroupPlanner(options), 20);
    expect(new Set(groups.map((one) => one.group_id)).size).toBe(20);
    expect(new Set(groups.map((one) => one.seed)).size).toBe(20);
    expect(groups.every((one) => one.seed <= 1_000_000)).toBe(true);
    const evaluation = await plan(new GroupPlanner({ ...options, evaluation: true }), 5);
    expect(evaluation.every((one) => one.seed >= 1_000_001)).toBe(true);
  });

  it('plans fewer and shorter rollouts of what succeeds', async () => {
    const steps = (count: number) => Array.from({ length: count }, () => ({})) as never[];
    // a: 16 successes, the longest of 7 steps, after 9 failures that have left the window; b: 3 of 4; c: errors only.
    for (let i = 0; i < 9; i++) progress.observe({ task_id: 'os/a', reward: 0, outcome: 'failure', steps: steps(20) });
    for (let i = 0; i < 16; i++)
      progress.observe({ task_id: 'os/a', reward: 1, outcome: 'success', steps: steps(i % 8) });
    for (let i = 0; i < 3; i++) progress.observe({ task_id: 'os/b', reward: 1, outcome: 'success', steps: steps(2) });
    progress.observe({ task_id: 'os/b', reward: 0, outcome: 'truncated', steps: steps(30) });
    progress.observe({ task_id: 'os/c', reward: null, outcome: 'env_error', steps: [] });
    const planned = Object.fromEntries(
      (await plan(new GroupPlanner(options), 5)).map((one) => [one.task.id, [one.size, one.maxSteps]]),
    );
    expect(planned).toEqual({ a: [2, 9], b: [5, 5], c: [8, 30], d: [8, 30], e: [8, 30] });
    const fixed = new GroupPlanner({ ...options, dynamicRollouts: false, dynamicLength: false });
    expect((await plan(fixed, 5)).every((one) => one.size === 8 && one.maxSteps === 30)).toBe(true);
  });

  it('asks the store at most once a second of each task', async () => {
    const asked: string[][] = [];
    const read = async (ids: readonly string[]) => {
      asked.push([...ids]);
      return new Map([['os/a', { successRate: 0.9, longestSuccess: 10 }]]);
    };
    const shared = new TaskProgress(16, { read });
    const groups = await plan(new GroupPlanner({ ...options, tasks: tasks.slice(0, 2), progress: shared }), 6);
    expect(asked.sort()).toEqual([['os/a'], ['os/b']]);
    expect(groups.filter((one) => one.task.id === 'a').map((one) => [one.size, one.maxSteps])).toEqual([
      [3, 12],
      [3, 12],
      [3, 12],
    ]);
  });
});
