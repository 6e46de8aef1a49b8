import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../lib/cli/run.ts';
import { compile } from '../../lib/store/compiled.testing.ts';
import { type Sketch, trajectory } from '../../lib/store/trajectories.testing.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { AnyRecord, Trajectory } from '../../lib/stream/records.ts';
import { spec } from './spec.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-curate-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** A group with one success and one failure, a step each. */
function pair(group: string, changes: Partial<Sketch> = {}): Trajectory[] {
  return [0, 1].map((index) =>
    trajectory({ id: `${group}.${index}`, group, index, reward: index, steps: 1, ...changes }),
  );
}

const lines = (records: readonly AnyRecord[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** Runs `dart-curate` in this process. */
async function curate(args: string[], input: string | Readable = '') {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const texts = { stdout: '', stderr: '' };
  stdout.on('data', (chunk) => {
    texts.stdout += chunk;
  });
  stderr.on('data', (chunk) => {
    texts.stderr += chunk;
  });
  const stdin = typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input;
  const code = await runCommand(spec, args, { stdin, stdout, stderr, cwd, env: { HOME: cwd } });
  await new Promise((resolve) => setImmediate(resolve));
  const records = texts.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyRecord);
  return { code, ...texts, records, summary: records.at(-1)! };
}

describe('dart-curate', () => {
  it('turns trajectories on stdin into samples and a summary', async () => {
    const { code, records, stderr } = await curate([], lines([...pair('g1'), ...pair('g2', { reward: 1 })]));
    expect(code).toBe(0);
    expect(records.map((record) => record.type)).toEqual(['sample', 'sample', 'event', 'summary']);
    expect(records[0]).toMatchObject({ v: 1, group_id: 'g1', group_steps: 2, behaviour_version: 0, temperature: 1 });
    expect(records[2]).toMatchObject({ event: 'group_rejected', reason: 'all_succeeded', group_id: 'g2' });
    expect(records[3]).toEqual({
      type: 'summary',
      v: 1,
      command: 'dart-curate',
      trajectories: 4,
      rejected_trajectories: {},
      groups: 1,
      rejected_groups: { all_succeeded: 1 },
      samples: 2,
      groups_with_injection: 0,
      unscored_tokens: 0,
      steps_without_logprobs: 0,
      steps_with_sampler_bias: 0,
      skipped_records: 0,
    });
    expect(stderr).toContain('4 trajectories, 1 groups, 2 samples, groups left out: 1 all_succeeded');
  });

  it('gives the same bytes for the same file, into a file, with a store and without', async () => {
    writeFileSync(
      join(cwd, 'in.ndjson'),
      lines([...pair('g0', { reward: 0 }), ...pair('g1'), ...pair('g2', { reward: 0 })]),
    );
    const args = (name: string, ...more: string[]) => ['in.ndjson', '-o', name, ...more];
    expect((await curate(args('a'))).code).toBe(0);
    expect((await curate(args('b', '--store', 'sqlite:here/dart.db'))).code).toBe(0);
    const [a, b] = ['a', 'b'].map((name) => readFileSync(join(cwd, name), 'utf8'));
    expect(b).toBe(a);
    expect(a!.split('\n')).toHaveLength(8);
    expect(readFileSync(join(cwd, 'here', 'dart.db')).length).toBeGreaterThan(0);
  });

  it('ends with 1 when nothing was worth learning from, and says why', async () => {
    const { code, stderr, summary } = await curate(['--no-pool'], lines(pair('g1', { reward: 0 })));
    expect(code).toBe(1);
    expect(summary.rejected_groups).toEqual({ all_failed: 1 });
    expect(stderr).toContain('groups left out: 1 all_failed');
  });

  it('says that no trajectory came, and looks for all files before it reads one', async () => {
    const task = { type: 'task', v: 1, task_id: 'a', id: 'a', domain: 'os', instruction: 'do it', evaluator: {} };
    const { code, stderr } = await curate([], lines([task, task]));
    expect(code).toBe(1);
    expect(stderr).toContain('no trajectory record came; 2 task records passed. Try: dart-rollout … | dart-curate');
    writeFileSync(join(cwd, 'in.ndjson'), lines(pair('g1')));
    const missing = await curate(['in.ndjson', 'missing.ndjson']);
    expect([missing.code, missing.stdout]).toEqual([2, '']);
    expect(missing.stderr).toContain('missing.ndjson: cannot read: no such file');
  });

  it('takes its rules from the options', async () => {
    const input = lines([...pair('g1'), trajectory({ id: 'x', group: 'g2', size: 1, reward: 1, steps: 1 })]);
    const { records } = await curate(
      ['--min-scored', '1', '--keep-constant', '--advantage', 'rloo', '--preset', 'arpo'],
      input,
    );
    expect(records.map((record) => record.advantage)).toEqual([-1, 1, 0, undefined]);
    const trimmed = await curate(
      ['--max-group', '2'],
      lines(
        [0, 1, 2, 3].map((index) =>
          trajectory({ id: `m${index}`, index, size: 4, steps: 1, reward: index === 2 ? 1 : 0 }),
        ),
      ),
    );
    expect(trimmed.summary).toMatchObject({ groups: 1, samples: 2 });
    expect(trimmed.records.some((record) => record.trajectory_id === 'm2')).toBe(true);
  });

  it('leaves out trajectories whose screenshots are not in --blobs', async () => {
    await new BlobStore(join(cwd, 'blobs')).put(Buffer.from('a picture'));
    const { summary } = await curate(['--blobs', 'blobs'], lines(pair('g1')));
    expect(summary.rejected_trajectories).toEqual({ missing_screenshot: 2 });
  });

  it('names a broken line and leaves nothing half-written', async () => {
    writeFileSync(join(cwd, 'in.ndjson'), `${lines(pair('g1'))}{"type":"trajectory","v":1}\n`);
    const { code, stderr } = await curate(['in.ndjson', '-o', 'out.ndjson']);
    expect(code).toBe(2);
    expect(stderr).toContain('in.ndjson:3: not a valid trajectory');
    expect(() => readFileSync(join(cwd, 'out.ndjson'))).toThrow('ENOENT');
    const skipping = await curate(['in.ndjson', '--on-error', 'skip']);
    expect(skipping.code).toBe(2);
    expect(skipping.summary).toMatchObject({ groups: 1, skipped_records: 1 });
    expect(skipping.records.map((record) => record.reason ?? record.type)).toEqual([
      'sample',
      'sample',
      'bad_record',
      'summary',
    ]);
    expect(skipping.records[2]).toMatchObject({ event: 'record_rejected', where: 'in.ndjson:3' });
  });

  it('refuses stores that it does not know', async () => {
    const { code, stderr } = await curate(['--store', 'postgres://localhost/dart']);
    expect(code).toBe(2);
    expect(stderr).toContain('stores of the kind "postgres:" are not supported. Try: sqlite:PATH');
  });

  it('does nothing with --dry-run but say what it would do', async () => {
    const { code, stdout, stderr } = await curate(['--dry-run', '--store', 'sqlite:dart.db'], lines(pair('g1')));
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('would curate standard input, stored in sqlite:dart.db: pool dart');
    expect(() => readFileSync(join(cwd, 'dart.db'))).toThrow('ENOENT');
    const server = await curate(['--dry-run', '--store', 'mysql://me:se@cret@db/dart'], lines(pair('g1')));
    expect(server.stderr).toContain('stored in mysql://me:***@db/dart: pool dart');
  });

  it('prints a table of what was left out', async () => {
    const { stderr } = await curate(['--table', '--quiet'], lines([...pair('g1'), ...pair('g2', { reward: 1 })]));
    expect(stderr).toMatch(/group left out +all_succeeded +1/);
  });

  it('reads a file on as it grows, until it is told to stop', async () => {
    const path = join(cwd, 'growing.ndjson');
    const [a, b] = pair('g1');
    writeFileSync(path, lines([a!]));
    const stop = new AbortController();
    const stdout = new PassThrough();
    const stderr = new PassThrough().resume();
    const done = runCommand(spec, ['--follow', path], { stdout, stderr, cwd, env: { HOME: cwd }, signal: stop.signal });
    setTimeout(() => writeFileSync(path, lines([b!]), { flag: 'a' }), 50);
    const first = await new Promise<Buffer>((resolve) => stdout.once('data', resolve));
    expect(JSON.parse(first.toString().split('\n')[0]!)).toMatchObject({ type: 'sample', trajectory_id: 'g1.0' });
    stop.abort(new Error('enough'));
    await done;
  });
});

describe('dart-curate pool and stats', () => {
  const store = ['--store', 'sqlite:dart.db'];

  it('take demonstrations without log-probabilities and use them', async () => {
    const demo = trajectory({ id: 'demo', run: 'demos', group: 'd', reward: 1, steps: 3, bare: true });
    const input = lines([
      demo,
      trajectory({ id: 'lost', run: 'demos', reward: 0 }),
      { type: 'summary', v: 1, command: 'dart-rollout' },
    ]);
    const first = await curate(['pool', 'add', ...store], input);
    expect(first.code).toBe(0);
    expect(first.records[0]).toMatchObject({ command: 'dart-rollout' });
    expect(first.summary).toMatchObject({ trajectories: 2, successes: 1, added: 1 });
    const again = await curate(['pool', 'add', ...store, '-'], input);
    expect([again.code, again.summary.added]).toEqual([0, 0]);
    expect((await curate(['pool', 'add', ...store], lines([trajectory({ id: 'no' })]))).code).toBe(1);

    const list = await curate(['pool', 'list', ...store, '--table']);
    expect(list.records[0]).toMatchObject({ event: 'experience', task_id: 'chrome/t1', successes: 1, unscored: 1 });
    expect(list.stderr).toMatch(/chrome\/t1 +chrome +1 +1/);

    const failed = await curate(store, lines(pair('g1', { reward: 0 })));
    expect(failed.records.filter((record) => record.injected)).toHaveLength(3);
    expect(failed.summary).toMatchObject({ groups: 1, groups_with_injection: 1, steps_without_logprobs: 3 });

    const stats = await curate(['stats', ...store, '--table']);
    expect(stats.records[0]).toMatchObject({
      type: 'result',
      task_id: 'chrome/t1',
      score: 0,
      rollouts: 2,
      longest_success: null,
      experience: 1,
    });
    expect(stats.stderr).toMatch(/chrome\/t1 +chrome +0\.00 +2 +- +0 +1/);
    const unknown = await curate(['stats', ...store, '--run-id', 'nope']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('the store has no run nope')]);
  });

  it('make no store where there is none, and say when one is empty', async () => {
    for (const command of [['stats'], ['pool', 'list']]) {
      const { code, stderr } = await curate([...command, '--store', 'sqlite:never.db']);
      expect([code, stderr]).toEqual([2, expect.stringContaining('there is no such store')]);
      expect(existsSync(join(cwd, 'never.db'))).toBe(false);
    }
    await curate(store);
    const stats = await curate(['stats', ...store]);
    expect([stats.code, stats.stderr]).toEqual([1, expect.stringContaining('the store knows no task yet')]);
    const list = await curate(['pool', 'list', ...store]);
    expect([list.code, list.stderr]).toEqual([1, expect.stringContaining('the pool is empty')]);
  });
});

describe('dart-curate as a process', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await compile('commands/curate/main.ts', 'commands/curate/run.ts', 'commands/curate/pool.ts');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (args: string[], options = {}) =>
    execa('node', [join(folder, 'commands/curate/main.js'), ...args], { reject: false, cwd, ...options });

  it('hands on a group the moment it closes, and what was not learned from to its successor', async () => {
    const args = ['--follow', '--store', `sqlite:${join(cwd, 'dart.db')}`, '--quiet'];
    const first = start(args, { buffer: { stdout: false } });
    const sample = new Promise<string>((resolve) => first.stdout!.once('data', (chunk) => resolve(String(chunk))));
    first.stdin!.write(lines(pair('g1')));
    expect(JSON.parse((await sample).split('\n')[0]!)).toMatchObject({ group_id: 'g1', trajectory_id: 'g1.0' });
    first.kill('SIGINT');
    expect((await first).exitCode).toBe(130);

    const second = await start(args, { input: lines(pair('g2')) });
    const groups = second.stdout.split('\n').map((line) => (JSON.parse(line) as AnyRecord).group_id);
    expect(groups).toEqual(['g1', 'g1', 'g2', 'g2', undefined]);
    expect(second.exitCode).toBe(0);
  });

  it('ends quietly when its reader leaves', async () => {
    const input = lines(Array.from({ length: 400 }, (_, i) => pair(`g${i}`)).flat());
    writeFileSync(join(cwd, 'in.ndjson'), input);
    const script = `node ${join(folder, 'commands/curate/main.js')} in.ndjson | head -n 1; echo "codes \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await execa('bash', ['-c', script], { cwd });
    expect(stdout.split('\n').at(-1)).toBe('codes 0');
    expect(stderr).not.toMatch(/Error|at /);
  });
});
