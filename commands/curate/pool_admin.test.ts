import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trajectory } from '../../lib/store/trajectories.testing.ts';
import { curateIn, lines } from './curate.testing.ts';
import { choose, milliseconds } from './pool_prune.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-pool-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const curate = (args: string[], input?: string) => curateIn(cwd, args, input);
const STORE = ['--store', 'sqlite:dart.db'];
const success = (id: string, task = 'os/a') => trajectory({ id, task, reward: 1, steps: 1 });
const pooled = async () => (await curate(['pool', 'export', ...STORE])).of('trajectory').map((t) => t.trajectory_id);

describe('dart-curate pool export', () => {
  it('prints what fills an empty pool identically, one task where asked', async () => {
    const records = [success('a1'), success('b1', 'os/b'), success('a2')];
    await curate(['pool', 'add', ...STORE], lines(records));
    const { code, of, stdout, summary } = await curate(['pool', 'export', ...STORE]);
    expect([code, of('trajectory'), summary.successes]).toEqual([0, records, 3]);
    await curate(['pool', 'add', '--store', 'sqlite:other.db'], stdout);
    expect((await curate(['pool', 'export', '--store', 'sqlite:other.db'])).stdout).toBe(stdout);
    const one = await curate(['pool', 'export', ...STORE, '--task', 'os/b']);
    expect(one.of('trajectory')).toEqual([success('b1', 'os/b')]);
    const none = await curate(['pool', 'export', ...STORE, '--task', 'os/z']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no success of task os/z')]);
  });

  it('pages through a large pool in order', async () => {
    const records = Array.from({ length: 450 }, (_, i) => success(`s${i}`, `os/t${i}`));
    await curate(['pool', 'add', ...STORE], lines(records));
    expect(await pooled()).toEqual(records.map((record) => record.trajectory_id));
  });
});

describe('dart-curate pool add', () => {
  it('changes nothing when it comes again, also where the pool was too small for all', async () => {
    const input = lines([success('a1'), success('a2'), success('a3')]);
    const add = () => curate(['pool', 'add', ...STORE, '--pool-capacity', '2'], input);
    expect((await add()).summary.added).toBe(3);
    expect(await pooled()).toEqual(['a2', 'a3']);
    expect((await add()).summary.added).toBe(0);
    expect(await pooled()).toEqual(['a2', 'a3']);
  });
});

describe('dart-curate pool prune', () => {
  beforeEach(async () => {
    await curate(
      ['pool', 'add', ...STORE],
      lines([success('a1'), success('a2'), success('b1', 'os/b'), success('a3')]),
    );
  });

  it('says with --dry-run what would go, and takes nothing', async () => {
    const { code, of, summary, stderr } = await curate([
      'pool',
      'prune',
      ...STORE,
      '--keep',
      '1',
      '--dry-run',
      '--table',
    ]);
    expect(code).toBe(0);
    expect(of('event').map(({ event, reason, trajectory_id }) => [event, reason, trajectory_id])).toEqual([
      ['experience_would_go', 'surplus', 'a1'],
      ['experience_would_go', 'surplus', 'a2'],
    ]);
    expect(summary).toMatchObject({ entries: 4, chosen: 2, removed: 0 });
    expect(stderr).toContain('would take out 2 of 4 successes');
    expect(await pooled()).toHaveLength(4);
  });

  it('keeps the newest of each task', async () => {
    const { summary } = await curate(['pool', 'prune', ...STORE, '--keep', '1']);
    expect(summary).toMatchObject({ chosen: 2, removed: 2 });
    expect(await pooled()).toEqual(['b1', 'a3']);
    expect((await curate(['pool', 'prune', ...STORE, '--keep', '1'])).code).toBe(1);
  });

  it('takes a task, or only what is old of it', async () => {
    expect((await curate(['pool', 'prune', ...STORE, '--older-than', '1h'])).code).toBe(1);
    await curate(['pool', 'prune', ...STORE, '--task', 'os/a']);
    expect(await pooled()).toEqual(['b1']);
  });

  it('wants to be told what, in durations that it knows', async () => {
    const nothing = await curate(['pool', 'prune', ...STORE]);
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('nothing says what is to go')]);
    const bad = await curate(['pool', 'prune', ...STORE, '--older-than', 'yesterday']);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining("'yesterday' is not a duration. Try: 30d")]);
    expect(['90m', '12h', '2w', '0.5d'].map(milliseconds)).toEqual([5_400_000, 43_200_000, 1_209_600_000, 43_200_000]);
  });
});

describe('choose', () => {
  it('counts what is old before it counts how many there are', () => {
    const entries = [1, 2, 3, 4].map((time) => ({
      experience_seq: time,
      task_id: 'a',
      trajectory_id: `t${time}`,
      added_at: time,
      scored: false,
    }));
    const chosen = choose(entries, { before: 3, keep: 1 });
    expect(chosen.map(({ entry, reason }) => [entry.trajectory_id, reason])).toEqual([
      ['t1', 'older_than'],
      ['t2', 'older_than'],
      ['t3', 'surplus'],
    ]);
  });
});
