import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../lib/store/index.ts';
import { type Sketch, trajectory } from '../../lib/store/trajectories.testing.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { Demonstration, Preference } from '../../lib/stream/records.ts';
import { curateIn, lines } from './curate.testing.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-offline-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const curate = (args: string[], input?: string) => curateIn(cwd, args, input);
const sketches = (...list: Sketch[]) => lines(list.map(trajectory));
const BAD: [string, string, string][] = [
  ['a last line that is cut short', '{"type":"traj', 'stdin:1: the last line is cut short'],
  ['a newer schema', lines([{ ...trajectory({ id: 'x' }), v: 2 }]), 'stdin:1: the record has schema version 2'],
  ['a reward above 1', lines([{ ...trajectory({ id: 'x' }), reward: 2 }]), 'stdin:1: not a valid trajectory: reward'],
  [
    'an outcome without reward',
    lines([{ ...trajectory({ id: 'x' }), reward: null }]),
    'outcome "failure" but no reward',
  ],
  ['a line of 65 MiB', `"${'x'.repeat(65 * 1024 * 1024)}"\n`, 'stdin:1: the line is longer than 67108864 bytes'],
];

describe.each([
  ['demos'],
  ['pairs --for dpo'],
  ['pairs --for kto'],
  ['select-tasks'],
  ['pool add --store sqlite:p.db'],
])('dart-curate %s', (command) => {
  it.each(BAD)('names %s and ends with 2', async (_, text, message) => {
    const { code, stderr } = await curate(command.split(' '), text);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('goes on without it where that is asked for, and still ends with 2', async () => {
    const text = BAD[3]![1] + sketches({ id: 'a', reward: 1 }, { id: 'b', reward: 0 });
    const { code, summary } = await curate([...command.split(' '), '--on-error', 'skip'], text);
    expect([code, summary.skipped_records]).toEqual([2, 1]);
    // Not every one counts them; who does leaves out what was left out.
    expect([undefined, 2]).toContain(summary.trajectories);
  });
});

describe('dart-curate demos', () => {
  const ids = (records: unknown[]) => (records as Demonstration[]).map((d) => `${d.trajectory_id} ${d.step_index}`);

  it('gives one record a step of each success, with its history', async () => {
    const { code, of, summary } = await curate(
      ['demos'],
      sketches(
        { id: 'a', reward: 1 },
        { id: 'b', reward: 0.5 },
        { id: 'c', reward: null },
        { id: 'd', reward: 1, reply: 'a' },
      ),
    );
    expect(code).toBe(0);
    expect(ids(of('demonstration'))).toEqual(['a 0', 'a 1']);
    expect(of('demonstration')[1]).toMatchObject({ history: ['a 0'], reward: 1, step: { response: { text: 'a 1' } } });
    for (const record of of('demonstration')) parseRecord('demonstration', record, 'here');
    expect(summary).toMatchObject({
      trajectories: 4,
      episodes: 1,
      demonstrations: 2,
      rejected: { error: 1, below_threshold: 1, repeated: 1, surplus: 0, missing_screenshot: 0 },
    });
  });

  it('takes the newest or the shortest of a task', async () => {
    const text = sketches(
      { id: 'old', reward: 1, steps: 1, minute: 1 },
      { id: 'new', reward: 1, steps: 3, minute: 9 },
      { id: 'mid', reward: 1, steps: 2, minute: 5 },
      { id: 'other', reward: 1, steps: 1, task: 'os/t2' },
    );
    expect(ids((await curate(['demos', '--per-task', '1'], text)).of('demonstration'))).toEqual([
      'new 0',
      'new 1',
      'new 2',
      'other 0',
    ]);
    const short = await curate(['demos', '--per-task', '2', '--rank', 'shortest'], text);
    expect(ids(short.of('demonstration'))).toEqual(['old 0', 'mid 0', 'mid 1', 'other 0']);
    expect(short.summary).toMatchObject({ episodes: 3, rejected: { surplus: 1 } });
  });

  it('leaves out replies that could not be read, and what has no screenshot', async () => {
    const unread = trajectory({ id: 'a', reward: 1 });
    unread.steps[0]!.parse_error = 'there is no action';
    const { of, summary } = await curate(['demos'], lines([unread]));
    expect([ids(of('demonstration')), summary.unread_steps]).toEqual([['a 1'], 1]);
    mkdirSync(join(cwd, 'blobs'));
    const missing = await curate(['demos', '--blobs', 'blobs'], lines([unread]));
    expect([missing.code, missing.of('event')[0]]).toEqual([
      1,
      expect.objectContaining({ event: 'trajectory_rejected', reason: 'missing_screenshot', trajectory_id: 'a' }),
    ]);
  });

  it('ends with 1 when there is no success', async () => {
    expect((await curate(['demos'], sketches({ id: 'a' }))).code).toBe(1);
  });
});

describe('dart-curate pairs', () => {
  const many = (task: string, good: number, bad: number) =>
    [...Array(good + bad).keys()].map((i) => ({ id: `${task}.${i}`, task, reward: i < good ? 1 : 0, steps: 1 }));
  const pairsOf = (records: unknown[]) =>
    (records as Preference[]).map((p) => [p.chosen!.trajectory_id, p.rejected!.trajectory_id] as const);

  it('draws pairs of a success and a failure of the same task, by seed', async () => {
    const text = sketches(...many('os/a', 3, 5), ...many('os/b', 2, 0), ...many('os/c', 0, 2), ...many('os/d', 1, 1));
    const run = (seed: string) => curate(['pairs', '--for', 'dpo', '--pairs', '4', '--seed', seed], text);
    const { code, of, summary, stdout } = await run('1');
    expect(code).toBe(0);
    const pairs = pairsOf(of('preference'));
    expect(pairs).toHaveLength(5);
    for (const [chosen, rejected] of pairs) {
      expect(chosen.split('.')[0]).toBe(rejected.split('.')[0]);
      expect(Number(chosen.split('.')[1])).toBeLessThan(3);
      expect(rejected).not.toBe(chosen);
    }
    expect(new Set(pairs.map(String)).size).toBe(5);
    expect(new Set(pairs.slice(0, 4).map(([, rejected]) => rejected)).size).toBe(4);
    expect(pairs[4]).toEqual(['os/d.0', 'os/d.1']);
    expect(of('event').map(({ task_id, reason }) => [task_id, reason])).toEqual([
      ['os/b', 'no_failure'],
      ['os/c', 'no_success'],
    ]);
    expect(summary).toMatchObject({ pairs: 5, tasks: 2, tasks_without_pair: { no_success: 1, no_failure: 1 } });
    for (const record of of('preference')) parseRecord('preference', record, 'here');
    expect((await run('1')).stdout).toBe(stdout);
    expect((await run('2')).stdout).not.toBe(stdout);
  });

  it('labels for kto: above 0.5 is desirable, errors are neither', async () => {
    const text = sketches({ id: 'a', reward: 0.6 }, { id: 'b', reward: 0.5 }, { id: 'c', reward: null });
    const { of, summary } = await curate(['pairs', '--for', 'kto'], text);
    const labels = (of('preference') as unknown as Preference[]).map((p) => [p.completion!.trajectory_id, p.label]);
    expect(labels).toEqual([
      ['a', true],
      ['b', false],
    ]);
    expect(summary).toMatchObject({ desirable: 1, undesirable: 1, rejected: { error: 1, no_steps: 0 } });
    for (const record of of('preference')) parseRecord('preference', record, 'here');
  });

  it('are refused where a part is missing', async () => {
    const { of } = await curate(['pairs', '--for', 'kto'], sketches({ id: 'a', reward: 1 }));
    const whole = of('preference')[0]!;
    for (const wrong of [
      { ...whole, label: undefined },
      { ...whole, objective: 'dpo' },
    ]) {
      expect(() => parseRecord('preference', wrong, 'here')).toThrow('dpo wants "chosen" and "rejected"');
    }
  });

  it('says of a task with a single rollout that it gives no pair, and ends with 1', async () => {
    const { code, of } = await curate(['pairs', '--for', 'dpo'], sketches({ id: 'a', reward: 1 }));
    expect([code, of('event')[0]]).toEqual([
      1,
      expect.objectContaining({ reason: 'no_failure', task_id: 'chrome/t1' }),
    ]);
  });
});

describe('dart-curate select-tasks', () => {
  const task = (id: string, func: string | string[] = 'exact_match') => ({
    type: 'task',
    v: 1,
    task_id: id,
    id,
    domain: 'os',
    instruction: 'do it',
    evaluator: { func },
    extra: 1,
  });
  const rollouts = (id: string, ...rewards: (number | null)[]) =>
    sketches(...rewards.map((reward, i) => ({ id: `${id}.${i}`, task: id, reward, steps: 1 })));

  it('keeps tasks with a success among the first rollouts, and says why others are dropped', async () => {
    const text =
      lines([task('solved'), task('never'), task('late'), task('unseen'), task('hopeless', 'infeasible')]) +
      rollouts('solved', 0, 1) +
      rollouts('never', 0, 0, 0.5) +
      rollouts('late', 0, null, 0, 1) +
      rollouts('hopeless', 1, 1) +
      rollouts('unknown', 1);
    const { code, of, summary, stderr } = await curate(
      ['select-tasks', '--rollouts', '2', '--exclude-infeasible'],
      text,
    );
    expect(code).toBe(0);
    expect(of('task')).toEqual([task('solved')]);
    expect(of('event').map(({ event, task_id, reason }) => [event, task_id, reason])).toEqual([
      ['task_dropped', 'never', 'too_few_successes'],
      ['task_dropped', 'late', 'too_few_successes'],
      ['task_dropped', 'hopeless', 'infeasible'],
      ['task_selected', 'unknown', undefined],
      ['task_dropped', 'unseen', 'no_rollout'],
    ]);
    expect(of('event')[1]).toMatchObject({ successes: 0, rollouts: 2, errors: 1 });
    expect(summary).toMatchObject({
      tasks: 6,
      kept: 2,
      dropped: { no_rollout: 1, too_few_successes: 2, infeasible: 1 },
      short_baselines: 2,
    });
    expect(stderr).toMatch(/late +t?\S* +0 +2 +1 +too_few_successes/);
    expect(stderr).toContain('kept 2 of 6 tasks');
    expect(stderr).toContain('2 tasks have fewer than 2 scored rollouts');
    expect(stderr).toContain('some tasks are only known by their ids, so infeasible ones cannot be told');
    expect((await curate(['select-tasks', '--min-success', '2', '--rollouts', '2'], text)).of('task')).toEqual([
      task('hopeless', 'infeasible'),
    ]);
  });

  it('takes tasks from a folder and writes a list that tasks can be chosen by', async () => {
    writeFileSync(join(cwd, 'tasks.ndjson'), lines([task('a'), task('b')]));
    const args = ['select-tasks', '--tasks', 'tasks.ndjson', '--list', 'list.json'];
    const { of } = await curate(args, rollouts('a', 1) + rollouts('b', 0));
    expect(of('task')).toMatchObject([{ task_id: 'a', extra: 1 }]);
    expect(JSON.parse(readFileSync(join(cwd, 'list.json'), 'utf8'))).toEqual({ os: ['a'] });
    const elsewhere = (rollouts('a', 1) + rollouts('b', 0)).replaceAll('"domain":"os"', '"domain":"unknown"');
    const { stderr, of: told } = await curate(args, elsewhere);
    expect(stderr).toMatch(/^a +os +1 /m);
    expect(stderr).not.toContain('unknown');
    expect(told('event')).toMatchObject([{ event: 'task_dropped', task_id: 'b', domain: 'os' }]);
  });

  it('takes the baseline from a store, without what was imported', async () => {
    const store = ['--store', 'sqlite:dart.db'];
    await curate([...store, '--no-pool'], lines([task('a')]) + rollouts('a', 0, 1) + rollouts('b', 0, 0));
    writeFileSync(join(cwd, 'in.ndjson'), rollouts('c', 1).replaceAll('run1', 'other'));
    await curate(['import', '--from', 'jsonl', 'in.ndjson', ...store]);
    const { code, of, summary } = await curate(['select-tasks', ...store]);
    expect([code, of('task').length, summary.tasks]).toEqual([0, 1, 2]);
    expect(of('event')).toEqual([expect.objectContaining({ event: 'task_dropped', task_id: 'b', rollouts: 2 })]);
    const named = await curate(['select-tasks', ...store, '--run-id', 'other']);
    expect(named.of('event')).toEqual([expect.objectContaining({ event: 'task_selected', task_id: 'c' })]);
    await (await openStore(`sqlite:${join(cwd, 'empty.db')}`)).close();
    const empty = await curate(['select-tasks', '--store', 'sqlite:empty.db']);
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('no rollout is stored. Try: dart-rollout')]);
    const both = await curate(['select-tasks', ...store, 'in.ndjson']);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--store and files exclude each other')]);
  });

  it('ends with 1 when none is left', async () => {
    const dropped = await curate(['select-tasks', '--quiet', '--rollouts', '1'], rollouts('a', 0));
    expect([dropped.code, dropped.stderr]).toEqual([1, '']);
    const none = await curate(['select-tasks'], lines([{ type: 'note' }]));
    expect([none.code, none.stderr]).toEqual([
      1,
      expect.stringContaining('warning: no trajectory record came; 1 note records'),
    ]);
  });
});

describe('a stream without trajectories', () => {
  const NOTES = lines([{ type: 'sample' }, { type: 'sample' }]);

  it.each([['demos'], ['pairs', '--for', 'kto'], ['select-tasks'], ['pool', 'add', '--store', 'sqlite:dart.db']])(
    'is told of, with what came instead: %s %s',
    async (...args) => {
      const { code, stderr, of } = await curateIn(cwd, args, NOTES);
      expect([code, of('sample').length]).toEqual([1, 2]);
      const command = args[0] === 'pool' ? 'pool add' : args[0];
      expect(stderr).toContain(
        `warning: no trajectory record came; 2 sample records passed. Try: dart-rollout … | dart-curate ${command}\n`,
      );
    },
  );
});
