import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { openStore, type Store } from '../../lib/store/index.ts';
import { type Sketch, trajectory } from '../../lib/store/trajectories.testing.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { spec as rolloutSpec } from '../rollout/spec.ts';
import { nearestIds } from './explain.ts';
import { spec } from './spec.ts';

/** What the store knows of tasks: `dart-curate stats` and `dart-curate explain`. */
let cwd: string;
let store: Store;
let now = 0;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-insight-'));
  now = Date.UTC(2025, 0, 1);
  store = await openStore(`sqlite:${cwd}/dart.db`, { now: () => now });
});
afterEach(async () => {
  await store.close();
  rmSync(cwd, { recursive: true });
});

async function curate(...args: string[]) {
  const io = testIo({ cwd });
  const code = await runCommand(spec, [...args, '--store', 'sqlite:dart.db'], io);
  const records = io.records();
  return { code, records, err: io.err(), first: records[0]! };
}

/** Rollouts of one task with these rewards, one group of their own each unless told otherwise. */
function rollouts(rewards: (number | null)[], changes: Partial<Sketch> = {}) {
  return rewards.map((reward, i) =>
    trajectory({ id: `${changes.task ?? 't'}.${i}`, task: 'os/t', group: `g${i}`, reward, ...changes }),
  );
}

describe('dart-curate stats', () => {
  it('prints success, what follows from it, and failures by outcome', async () => {
    await store.insertTrajectories([
      // 7 of 10: n = floor(9 / 0.7 − 7) = 5; the longest success has 9 steps.
      ...rollouts([1, 1, 1, 1, 1, 1, 1, 0, 0, 0], { steps: 9 }),
      ...rollouts([null, null], { task: 'os/t', group: 'e' }).map((one, i) => ({ ...one, trajectory_id: `e${i}` })),
      ...rollouts([0, 0], { task: 'gimp/x' }),
    ]);
    const { code, records, err } = await curate('stats', '--table');
    expect(code).toBe(0);
    expect(records[0]).toMatchObject({
      task_id: 'gimp/x',
      score: 0,
      rollouts_next: 8,
      step_cap: 30,
      outcomes: { failure: 2 },
    });
    expect(records[1]).toMatchObject({
      type: 'result',
      task_id: 'os/t',
      score: 0.7,
      rollouts: 10,
      longest_success: 9,
      failures: 2,
      rollouts_next: 5,
      step_cap: 11,
      outcomes: { env_error: 2, failure: 3, success: 7 },
    });
    expect(err).toMatch(/os\/t +os +0\.70 +10 +9 +2 +0 +5 +11 +7 success, 3 failure, 2 env_error/);
    const other = await curate('stats', '-n', '4', '--max-steps', '10', '--success-window', '3');
    // The newest three all failed.
    expect(other.records[1]).toMatchObject({ score: 0, rollouts_next: 4, step_cap: 10 });
  });

  it('tells what dart-rollout then does: two rollouts of at most longest + 2 steps after 16 successes', async () => {
    const task = 'chrome-bookmark-tea';
    await store.insertTrajectories(rollouts(Array(16).fill(1), { task, run: 'r', steps: 6 }));
    const { first } = await curate('stats', '--run-id', 'r');
    expect(first).toMatchObject({ task_id: task, score: 1, rollouts: 16, rollouts_next: 2, step_cap: 8 });
    const stop = new AbortController();
    const io = testIo({ cwd, signal: stop.signal });
    const suite = join(packageRoot(), 'fixtures/tasks/embedded');
    const args = ['--tasks', suite, '--task', task, '--env', 'embedded:1', '--policy', 'fixed:wait', '--follow'];
    const done = runCommand(
      rolloutSpec,
      [...args, '--run-id', 'r', '--store', 'sqlite:dart.db', '--blobs', 'blobs', '--quiet'],
      io,
    );
    while (!io.out().includes('"trajectory"')) await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort(new Error('enough'));
    await done;
    const planned = io.records().find((record) => record.type === 'trajectory')!;
    expect([planned.group_size, planned.limits]).toEqual([2, { max_steps: 8 }]);
  });
});

describe('dart-curate explain', () => {
  const explain = (task: string, ...args: string[]) => curate('explain', '--task', task, ...args);
  const group = (group_id: string, reason?: string) => ({
    ...{ group_id, run_id: 'run1', task_id: 'os/t', size: 2, members: [] },
    ...(reason === undefined ? {} : { reason }),
  });

  it('says of a task that always fails what would make it train, and no longer when that is there', async () => {
    await store.insertTrajectories(rollouts([0, 0]));
    await store.insertGroup(group('g0', 'no_success_stored'));
    now += 60_000;
    await store.insertGroup(group('g1', 'too_few_scored'));
    const { code, first, records, err } = await explain('os/t');
    expect(code).toBe(1);
    expect(first).toMatchObject({
      type: 'event',
      event: 'explanation',
      task_id: 'os/t',
      success_rate: 0,
      rewards: [0, 0],
      outcomes: { failure: 2 },
      rollouts_next: 8,
      step_cap: 30,
      groups: { rejected: 2 },
      rejected: { no_success_stored: 1, too_few_scored: 1 },
      rejections: [
        { group_id: 'g1', reason: 'too_few_scored', at: '2025-01-01T00:01:00.000Z' },
        { group_id: 'g0', reason: 'no_success_stored', at: '2025-01-01T00:00:00.000Z' },
      ],
      pool: { successes: 0, without_logprobs: 0 },
      trains: false,
      chance: 0,
    });
    expect(records.at(-1)).toMatchObject({ type: 'summary', command: 'dart-curate explain', trains: false });
    expect(err).toBe(
      [
        'os/t',
        '  success    0.00 over the newest 2: 0 0',
        '  rollouts   2 failure',
        '  next group 8 rollouts of at most 30 steps (no success yet)',
        '  groups     2 rejected',
        '  left out   1 too_few_scored, 1 no_success_stored',
        '             2025-01-01T00:01:00.000Z too_few_scored (g1)',
        '             2025-01-01T00:00:00.000Z no_success_stored (g0)',
        '  learned    nothing yet',
        '  pool       0 successes, 0 of them without log-probabilities',
        '  does not train: its 2 newest scored rollouts all failed and the pool has no success of it',
        '    needs: one success: a lucky rollout (more steps, a higher temperature),',
        '    needs: or one from elsewhere: dart-curate pool add, dart-curate import',
        '',
      ].join('\n'),
    );
    const demo = trajectory({ id: 'demo', task: 'os/t', group: '', reward: 1, bare: true });
    await store.addExperience([demo], { capacity: 8, experience: true });
    const after = await explain('os/t', '--quiet');
    expect([after.code, after.err]).toEqual([0, '']);
    expect(after.first).toMatchObject({ trains: true, chance: 1, pool: { successes: 1, without_logprobs: 1 } });
  });

  it('knows how often groups of a task are mixed', async () => {
    await store.insertTrajectories(rollouts([1, 0, 0, 0]));
    const { code, first } = await explain('os/t', '-n', '2');
    // 1 − (1/4)² − (3/4)² = 6/16.
    expect([code, first.chance]).toEqual([0, 0.375]);
    await store.addExperience(rollouts([1]), { capacity: 8 });
    // With a success stored only groups that all succeed are lost.
    expect((await explain('os/t', '-n', '2')).first.chance).toBe(1 - 1 / 16);
  });

  it('tells of tasks that are solved, constant, broken, or have not begun', async () => {
    await store.insertTrajectories([
      ...rollouts([1, 1], { task: 'os/solved' }),
      ...rollouts([0.5, 0.5], { task: 'os/half' }),
      ...rollouts([null, null], { task: 'os/broken' }),
    ]);
    await store.upsertTasks([
      { type: 'task', v: 1, task_id: 'os/new', id: 'new', domain: 'os', instruction: 'x', evaluator: { func: 'y' } },
    ]);
    const because = async (task: string) => {
      const { code, first } = await explain(task);
      return [code, first.because, (first.needs as string[])[0]];
    };
    expect(await because('os/solved')).toEqual([
      1,
      'its 2 newest scored rollouts all succeeded: nothing to learn',
      'a failure among the 2 rollouts that it still gets each turn; until then it costs little',
    ]);
    expect(await because('os/half')).toEqual([
      1,
      'all 2 newest rollouts have reward 0.5',
      'rewards that differ within a group: more rollouts a group, or a finer reward',
    ]);
    expect((await because('os/broken'))[1]).toBe('none of its 2 rollouts was scored, most ended in env_error');
    expect((await because('os/new'))[1]).toBe('no rollout of it has ended yet');
  });

  it('names what stands in the way of groups that could be learned from', async () => {
    await store.insertTrajectories(rollouts([1, 0, 0, 1]));
    await store.planGroups([{ group_id: 'g0', run_id: 'run1', task_id: 'os/t', size: 3 }]);
    await store.insertGroup(group('r1'), { owner: 'me', ttlMs: 1000 });
    for (const id of ['s1', 's2']) await store.insertGroup(group(id, 'stale'));
    await store.publishVersion({ run_id: 'run1', version: 4, path: 'p', groups: [] });
    const { first } = await explain('os/t');
    expect(first.open).toEqual([{ group_id: 'g0', size: 3, stored: 1, working: 0 }]);
    expect(first.groups).toEqual({ planned: 1, ready: 1, rejected: 2 });
    expect(first.needs).toEqual([
      expect.stringMatching(/^its last 2 groups were left out as stale: a trainer that keeps up/),
      '1 groups wait for dart-train to publish a version learned from them',
      '1 groups lack members that nobody works on: dart-curate --follow closes them',
    ]);
    await store.publishVersion({ run_id: 'run1', version: 5, path: 'p', groups: ['r1'] });
    expect((await explain('os/t')).first.learned).toEqual({ groups: 1, newest_version: 5 });
  });

  it('suggests the nearest ids in place of an unknown one', async () => {
    await store.insertTrajectories([
      ...rollouts([1], { task: 'chrome-bookmark-tea' }),
      ...rollouts([1], { task: 'calc-write-b2-7' }),
    ]);
    const { code, records, err } = await explain('chrome-bookmark-tee');
    expect([code, records]).toEqual([2, [] as AnyRecord[]]);
    expect(err).toContain(
      '--task: the store has no task chrome-bookmark-tee. Try: chrome-bookmark-tea, calc-write-b2-7',
    );
    expect(nearestIds('b2', ['chrome-bookmark-tea', 'calc-write-b2-7', 'os-b'])[0]).toBe('calc-write-b2-7');
  });
});
