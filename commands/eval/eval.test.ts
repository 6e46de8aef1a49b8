import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { Interrupted } from '../../lib/cli/stop.ts';
import { spec } from './spec.ts';

const SUITE = join(packageRoot(), 'fixtures/tasks/embedded');
let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-eval-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function evaluate(argv: string[], stdin?: string) {
  const io = testIo({ stdin, cwd: dir });
  const code = await runCommand(spec, argv, io);
  return { code, io, records: io.records() };
}

const result = (task_id: string, score: number) =>
  JSON.stringify({ type: 'result', v: 1, task_id, domain: 'os', score, rollouts: 8 });

describe('dart-eval', () => {
  it('scores the experts 1 on every task, one result a task and a summary at the end', async () => {
    const { code, records, io } = await evaluate(['--tasks', SUITE, '--policy', 'script', '--repeats', '1', '--table']);
    expect(code).toBe(0);
    expect(records.map((record) => record.type)).toEqual([...Array(60).fill('result'), 'summary']);
    expect(records.every((record) => record.type === 'summary' || record.score === 1)).toBe(true);
    expect(records.at(-1)).toMatchObject({ success: 1, tasks: 60, rollouts: 60, policy: 'script', temperature: 1 });
    expect(io.err()).toMatch(/^all +100\.0% +100\.0%–100\.0% +60 +60 +60 +3\.6 +\d/m);
  });

  it('scores a policy that only says finished 0 on every feasible task, and fails the gate', async () => {
    const { code, records, io } = await evaluate([
      ...['--tasks', SUITE, '--policy', 'fixed:finished', '--repeats', '1', '--fail-under', '0.5', '--quiet'],
    ]);
    expect(code).toBe(1);
    expect(records.at(-1)).toMatchObject({ success: 0, coverage: 0, outcomes: { failure: 60 } });
    expect(io.err()).toBe('dart-eval: success rate over scored tasks 0.0% is below --fail-under 50.0%\n');
  });

  it('scores random actions under 0.1, so that no task is solved by chance', async () => {
    const { records } = await evaluate([
      ...['--tasks', SUITE, '--policy', 'random', '--repeats', '4', '--seed', '1', '--quiet'],
    ]);
    expect(records.at(-1)).toMatchObject({ rollouts: 240, scored: 240 });
    expect(records.at(-1)!.success).toBeLessThan(0.1);
  });

  it('writes the trajectories where --trajectories says, and scores them alike', async () => {
    const one = join(SUITE, 'vlc/vlc-loop.json');
    await evaluate(['--tasks', one, '--policy', 'script', '--repeats', '3', '--trajectories', 't.ndjson', '--quiet']);
    const lines = readFileSync(join(dir, 't.ndjson'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(3);
    // every repeat on a desktop of its own, none of which training uses
    const seeds = lines.map((line) => JSON.parse(line).env_seed as number);
    expect(new Set(seeds).size).toBe(3);
    expect(Math.min(...seeds)).toBeGreaterThan(1_000_000);
    const { code, records } = await evaluate(['score', 't.ndjson', '--quiet']);
    expect(code).toBe(0);
    expect(records).toMatchObject([
      { task_id: 'vlc-loop', score: 1, rollouts: 3 },
      { success: 1, scored: 3 },
    ]);
  });

  it('takes task records from standard input', async () => {
    const task = { type: 'task', v: 1, ...JSON.parse(readFileSync(join(SUITE, 'vlc/vlc-loop.json'), 'utf8')) };
    const stdin = `${JSON.stringify({ ...task, task_id: 'vlc-loop', domain: 'vlc' })}\n`;
    const { code, records } = await evaluate(
      ['--tasks', '-', '--policy', 'script', '--repeats', '2', '--quiet'],
      stdin,
    );
    expect(code).toBe(0);
    expect(records.at(-1)).toMatchObject({ success: 1, rollouts: 2 });
  });

  it.each([
    [['--policy', 'script'], '--tasks: no tasks. Try: --tasks fixtures/tasks/embedded'],
    [['--tasks', SUITE], '--policy: no policy. Try: --policy onnx:fixtures/policies/base.onnx'],
    [['--tasks', 'missing', '--policy', 'script'], 'missing'],
    [['--tasks', SUITE, '--policy', 'onnx:none.onnx'], 'none.onnx'],
    [['--tasks', SUITE, '--policy', 'script', '--repeat', '2'], 'unknown option --repeat. Try: --repeats'],
    [['--tasks', SUITE, '--policy', 'random', '--repeats', '4097'], "1 to 4096, but received '4097'"],
    [['--tasks', SUITE, '--policy', 'random', '--workers', '1025'], "1 to 1024, but received '1025'"],
  ])('refuses %j in its first line and exits 2', async (argv, message) => {
    const { code, io } = await evaluate(argv);
    expect(code).toBe(2);
    expect(io.out()).toBe('');
    expect(io.err().split('\n')[0]).toContain(message);
  });
});

describe('dart-eval score', () => {
  it('says where a line is broken, and scores nothing', async () => {
    const { code, io } = await evaluate(['score', '-'], '{"type":"trajectory"\n');
    expect(code).toBe(2);
    expect(io.out()).toBe('');
    expect(io.err()).toMatch(/stdin:1: /);
  });

  it('exits 1 when nothing could be scored', async () => {
    const { code, records } = await evaluate(['score', '-'], '');
    expect(code).toBe(1);
    expect(records).toMatchObject([{ type: 'summary', success: null, rollouts: 0 }]);
  });
});

describe('dart-eval compare', () => {
  it('tells the gain paired by task, and gates on its lower end', async () => {
    writeFileSync(join(dir, 'before.ndjson'), [result('a', 0.25), result('b', 0.5)].join('\n'));
    writeFileSync(join(dir, 'after.ndjson'), [result('a', 0.75), result('b', 1)].join('\n'));
    const { code, records, io } = await evaluate(['compare', 'before.ndjson', 'after.ndjson', '--fail-under', '0.4']);
    expect(code).toBe(0);
    expect(records).toMatchObject([
      { before: 0.375, after: 0.875, gain: 0.5, gain_low: 0.5, gain_high: 0.5, tasks: 2 },
    ]);
    expect(io.err()).toContain('37.5% → 87.5%: gain +50.0 pt');
    const strict = await evaluate(['compare', 'before.ndjson', 'after.ndjson', '--fail-under', '0.6']);
    expect(strict.code).toBe(1);
  });

  it('refuses a file without results', async () => {
    writeFileSync(join(dir, 'none.ndjson'), '');
    const { code, io } = await evaluate(['compare', 'none.ndjson', 'none.ndjson']);
    expect(code).toBe(2);
    expect(io.err()).toContain('none.ndjson: no result record');
  });
});

describe('dart-eval, stopped', () => {
  const long = () => [
    ...['--tasks', SUITE, '--policy', 'fixed:wait', '--env', 'embedded:2,latency=20', '--repeats', '50'],
  ];

  /** Bytes of trajectories that have been written, to the file that is to become kept.ndjson. */
  const keptSoFar = () =>
    readdirSync(dir)
      .filter((name) => name.startsWith('.kept.ndjson'))
      .reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);

  it('says what was reached, keeps the trajectories, and writes no file that looks whole', async () => {
    for (const output of ['-', 'stopped.ndjson']) {
      const stop = new AbortController();
      const io = testIo({ cwd: dir, signal: stop.signal });
      const running = runCommand(spec, [...long(), '--trajectories', 'kept.ndjson', '-o', output], io);
      await vi.waitUntil(() => keptSoFar() > 0, { timeout: 60_000 });
      stop.abort(new Interrupted('SIGINT'));
      expect(await running).toBe(130);
      const kept = readFileSync(join(dir, 'kept.ndjson'), 'utf8').trim().split('\n');
      if (output === '-') {
        expect(io.records().at(-1)).toMatchObject({ type: 'summary', interrupted: true, rollouts: kept.length });
      } else {
        expect(existsSync(join(dir, output))).toBe(false);
        expect(io.err()).toContain(`stopped after ${kept.length} rollouts; stopped.ndjson is not written`);
      }
    }
  });

  it('refuses results and trajectories in one file', async () => {
    const { code, io } = await evaluate([...long(), '--trajectories', 'one.ndjson', '-o', 'one.ndjson']);
    expect(code).toBe(2);
    expect(io.err()).toContain('--trajectories one.ndjson: the results go to this file, too');
  });
});

describe('dart-eval on input of another kind', () => {
  it('says which records came instead of trajectories', async () => {
    const { code, io } = await evaluate(['score', '-'], `${result('a', 1)}\n${result('b', 1)}\n`);
    expect(code).toBe(1);
    expect(io.err()).toContain('no trajectory record came (records that came: 2 result)');
  });

  it('counts a trajectory that comes twice once', async () => {
    const one = join(SUITE, 'vlc/vlc-loop.json');
    await evaluate(['--tasks', one, '--policy', 'script', '--repeats', '2', '--trajectories', 'twice.ndjson', '-q']);
    const { records, io } = await evaluate(['score', 'twice.ndjson', 'twice.ndjson']);
    expect(records.at(-1)).toMatchObject({ scored: 2, repeated: 2 });
    expect(io.err()).toContain('2 trajectories came twice and were counted once');
  });

  it('leaves bad task lines of a file out where that was asked for', async () => {
    const task = { type: 'task', v: 1, ...JSON.parse(readFileSync(join(SUITE, 'vlc/vlc-loop.json'), 'utf8')) };
    const line = JSON.stringify({ ...task, task_id: 'vlc-loop', domain: 'vlc' });
    writeFileSync(join(dir, 'tasks.ndjson'), `{"broken"\n${line}\n`);
    const argv = ['--tasks', 'tasks.ndjson', '--policy', 'script', '--repeats', '1'];
    expect((await evaluate(argv)).code).toBe(2);
    const { records, io } = await evaluate([...argv, '--on-error', 'skip']);
    expect(records.at(-1)).toMatchObject({ success: 1, tasks: 2, unsupported: 1, skipped: 1 });
    expect(io.err()).toContain('tasks.ndjson:1: ');
  });

  it('refuses a task that comes twice', async () => {
    const task = { type: 'task', v: 1, ...JSON.parse(readFileSync(join(SUITE, 'vlc/vlc-loop.json'), 'utf8')) };
    const line = `${JSON.stringify({ ...task, task_id: 'vlc-loop', domain: 'vlc' })}\n`;
    const { code, io } = await evaluate(['--tasks', '-', '--policy', 'script'], line + line);
    expect(code).toBe(2);
    expect(io.err()).toContain('stdin:2: task vlc-loop came before');
  });
});
