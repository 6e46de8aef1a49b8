import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { lockRuns } from './lock.ts';

/** The programs as make starts them, with the built commands as processes, and budgets that say nothing. */
const root = packageRoot();
const dir = mkdtempSync(join(tmpdir(), 'dart-ablation-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** On a machine with nothing else to do each takes some seconds. */
const LIMIT_MS = 900_000;

const TINY = {
  ...{ SEEDS: '1', TRAIN_SECONDS: '2', TRAJECTORIES: '16', LIMIT_SECONDS: '600', POINTS: '1', REPEATS: '1' },
  ...{ CONDITION_REPEATS: '1', EVAL_TASKS: '2', BASE: 'fixtures/policies/base.onnx' },
};

function play(program: string, env: Record<string, string>, ...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [join(root, 'dist/commands/ablation', program), ...args], {
    cwd: root,
    env: { ...process.env, XDG_CONFIG_HOME: dir, XDG_STATE_HOME: dir, ...env },
    encoding: 'utf8',
  });
}

const namesIn = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).name ?? 'summary');
const read = (...path: string[]) => readFileSync(join(dir, ...path), 'utf8');

describe('make ablation', () => {
  const env = { ...TINY, RUN_DIR: join(dir, 'ablation'), ARMS: 'baseline' };

  it(
    'runs an arm, measures it, and makes nothing again',
    () => {
      const { status, stdout, stderr } = play('main.js', env);
      expect([status, stderr.slice(-2000)]).toEqual([0, expect.stringContaining('decoupled baseline')]);
      expect(namesIn(stdout)).toContain('ablation/time/baseline/success');
      const run = JSON.parse(read('ablation/baseline/1/run.json'));
      expect(run).toMatchObject({ name: 'baseline', seed: 1, measures: { 'time/train': { rollouts: 2 } } });
      expect(run.cuts.time.seconds).toBeGreaterThanOrEqual(2);
      expect(read('ablation/baseline/1/train.ndjson')).toContain('"command":"dart-train"');
      expect(read('ablation/ablation.svg')).toContain('<title>baseline: 0,');
      for (const gone of ['dart.db', 'blobs', 'policy', 'cuts'])
        expect(existsSync(join(dir, 'ablation/baseline/1', gone))).toBe(false);

      const made = statSync(join(dir, 'ablation/baseline/1/run.json')).mtimeMs;
      const again = play('main.js', env);
      expect([again.status, again.stderr]).toEqual([
        0,
        expect.stringContaining('4 of 4 pieces of work are done already'),
      ]);
      expect(statSync(join(dir, 'ablation/baseline/1/run.json')).mtimeMs).toBe(made);

      const other = play('main.js', { ...env, TRAIN_SECONDS: '3' });
      expect([other.status, other.stderr]).toEqual([2, expect.stringContaining('was made with other settings')]);

      // A report makes nothing, and takes no run of other settings.
      const report = play('main.js', env, '--report');
      expect([report.status, report.stderr]).toEqual([0, expect.stringContaining('2 s of training')]);
      const published = play('main.js', env, '--report', '--published');
      expect([published.status, published.stderr]).toEqual([
        ...[
          0,
          expect.stringMatching(/: 0 runs taken from docs\/results\/ablation.ndjson; \d+ left out: made with other/),
        ],
      ]);
      expect(existsSync(join(dir, 'ablation/full'))).toBe(false);
      const longer = play('main.js', { ...env, TRAIN_SECONDS: '3' }, '--report');
      expect([longer.status, longer.stderr]).toEqual([2, expect.stringContaining('left out: baseline, seed 1')]);
      expect(longer.stderr).toContain('no run of these settings is finished');
      const wider = play('main.js', { ...env, EVAL_TASKS: '3' }, '--report');
      expect([wider.status, wider.stderr]).toEqual([2, expect.stringContaining('conditions have not been measured')]);

      // What the base policy was measured on with two tasks is not taken for three.
      const conditions = play('main.js', { ...env, EVAL_TASKS: '3' }, 'conditions');
      expect([conditions.status, conditions.stderr]).toEqual([0, expect.stringContaining('of 3 rollouts, 3 tasks')]);
      expect(play('main.js', env, 'conditions').stderr).toContain('of 2 rollouts, 2 tasks');
    },
    LIMIT_MS,
  );

  it('says what makes no sense, and begins nothing', () => {
    const folder = join(dir, 'nothing');
    const said = (more: Record<string, string>, ...args: string[]) => {
      const { status, stdout, stderr } = play('main.js', { ...env, RUN_DIR: folder, ...more }, ...args);
      return [status, stdout, stderr];
    };
    expect(said({ ARMS: 'ful' })).toEqual([
      ...[2, '', expect.stringContaining('ablation: ARMS: there is no arm ful. Try: ARMS=baseline,')],
    ]);
    expect(said({ ARMS: ',' })).toEqual([2, '', expect.stringContaining("ablation: ARMS: names none in ','")]);
    expect(said({}, 'condtions')).toEqual([
      ...[2, '', 'ablation: ARGS: there is no word condtions: known are conditions, base. Try: ARGS=conditions\n'],
    ]);
    expect(said({ BASE: 'none.onnx' })).toEqual([
      ...[2, '', expect.stringContaining('none.onnx: cannot read the policy that BASE names: no such file or folder')],
    ]);
    expect(existsSync(folder)).toBe(false);
  });

  it('waits for nobody who is at work in the same folder', () => {
    const folder = join(dir, 'busy');
    const unlock = lockRuns(folder, 'make ablation');
    for (const program of ['main.js', 'arpo/main.js', 'scaling/main.js']) {
      const { status, stdout, stderr } = play(program, { RUN_DIR: folder });
      expect([status, stdout, stderr]).toEqual([
        ...[
          75,
          '',
          expect.stringMatching(/busy: another run holds the lock: process \d+ on .*Try: wait for it, or RUN_DIR/),
        ],
      ]);
    }
    unlock();
  });

  it.each(['main.js', 'arpo/main.js', 'scaling/main.js'])('prints its page: %s', (program) => {
    const { status, stdout, stderr } = play(program, { RUN_DIR: join(dir, 'nothing') }, '--help');
    expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('  RUN_DIR '), '']);
    expect(existsSync(join(dir, 'nothing'))).toBe(false);
  });
});

describe('a program that is killed', () => {
  const module = (name: string) => JSON.stringify(join(root, 'dist/commands/ablation', name));
  /** Takes the lock of a folder and runs a line, as the programs do. */
  const program = `
    const { lockRuns } = await import(${module('lock.js')});
    const { runLines } = await import(${module('shell.js')});
    lockRuns(process.argv[1], 'make ablation');
    await runLines([process.argv[2]], 'a line');`;
  const begin = async (folder: string, line: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, folder, line], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const pid = await vi.waitFor(
      () => {
        const found = Number(readFileSync(join(folder, 'pid'), 'utf8'));
        expect(found).toBeGreaterThan(0);
        return found;
      },
      { timeout: 60_000 },
    );
    const kill = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    return { pid, kill };
  };
  const writesPid = (folder: string) => `echo $BASHPID > ${join(folder, 'pid')}`;

  it('takes what it runs with it, and then its folder is free', async () => {
    const folder = join(dir, 'killed');
    const { pid, kill } = await begin(folder, `(${writesPid(folder)}; exec sleep 600) | cat`);
    expect(() => lockRuns(folder, 'make ablation')).toThrow(/another run holds the lock: process \d+ on /);
    await kill();
    const unlock = await vi.waitFor(() => lockRuns(folder, 'make ablation'), { timeout: 60_000 });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    unlock();
  });

  it('leaves its folder taken for as long as one of its commands goes on', async () => {
    const folder = join(dir, 'orphans');
    const line = `(trap '' TERM; ${writesPid(folder)}; exec sleep 600) | cat`;
    const { pid, kill } = await begin(folder, line);
    await kill();
    const { status, stderr } = play('main.js', { ...TINY, RUN_DIR: folder });
    expect([status, stderr]).toEqual([
      75,
      `ablation: ${folder}: a run that was killed has commands that are still ending. Try: wait for it, or RUN_DIR=… for another folder\n`,
    ]);
    process.kill(pid, 'SIGKILL');
    const unlock = await vi.waitFor(() => lockRuns(folder, 'make ablation'), { timeout: 60_000 });
    unlock();
  });
});

describe('make arpo', () => {
  it('says what makes no sense', () => {
    const env = { RUN_DIR: join(dir, 'nothing') };
    const word = play('arpo/main.js', env, 'conditions');
    expect([word.status, word.stderr]).toEqual([
      ...[2, 'arpo: ARGS: there is no word conditions: none is known. Try: ARGS=--help\n'],
    ]);
    const base = play('arpo/main.js', { ...env, BASE: 'none.onnx' });
    expect([base.status, base.stderr]).toEqual([2, expect.stringContaining('the policy that BASE names')]);
    expect(existsSync(env.RUN_DIR)).toBe(false);
  });

  it(
    'learns from stored rollouts and from its own, and tells both',
    () => {
      const env = {
        ...{ ...TINY, RUN_DIR: join(dir, 'arpo'), ARMS: 'kto,arpo', OFFLINE_SECONDS: '600', CASE_REPEATS: '2' },
        ...{ SELECT_ROLLOUTS: '2', IN_DOMAIN: '12' },
      };
      const { status, stdout, stderr } = play('arpo/main.js', env);
      expect([status, stderr.slice(-2000)]).toEqual([0, expect.stringContaining('Self-correction')]);
      expect(namesIn(stdout)).toContain('arpo/kto/heldout-hard');
      expect(stderr).toMatch(/\| KTO \|.*\| 24\.6% \| \d/);
      expect(read('arpo/arpo/1/case.ndjson').match(/"type":"trajectory"/g)).toHaveLength(2);
      expect(read('arpo/tasks/in-domain.ndjson').trim().split('\n')).toHaveLength(12);
      expect(read('arpo/arpo/1/rollouts.ndjson').match(/"event":"rollout"/g)!.length).toBeGreaterThanOrEqual(16);
    },
    LIMIT_MS,
  );
});

describe('make rollout-scaling', () => {
  it(
    'simulates, and runs embedded desktops as slow',
    () => {
      const env = { RUN_DIR: join(dir, 'scaling'), DESKTOPS: '8,16,8', REAL_DESKTOPS: '8', SCALE: '60', BATCHES: '1' };
      const { status, stdout, stderr } = play('scaling/main.js', env);
      expect([status, stderr.slice(-2000)]).toEqual([0, expect.stringContaining('| 16 | – | – |')]);
      const names = namesIn(stdout);
      expect(names.filter((name) => name === 'rollout-scaling/real/batch/8')).toHaveLength(1);
      expect(names).not.toContain('rollout-scaling/real/batch/16');
      expect(read('scaling/rollout-scaling.svg')).toContain('<title>coupled, simulated: 8,');
      // One batch of 8, and two rollouts of each of 8 desktops, which give no rate; kept where the machine had time.
      const files = readdirSync(env.RUN_DIR).filter((name) => name.startsWith('real-'));
      const expected = [
        ...(stderr.includes('Decoupled not told with 8 desktops: an epoch') ? [] : [['real-8-async-2', 16]]),
        ...(stderr.includes('Coupled not told with 8 desktops') ? [] : [['real-8-batch-1', 8]]),
      ];
      const spansIn = (name: string) => JSON.parse(read('scaling', name)).spans.length;
      expect(files.sort().map((name) => [name.slice(0, -14), spansIn(name)])).toEqual(expected);
      expect(stderr).toContain('Decoupled not told with 8 desktops');

      const times = () => files.map((name) => statSync(join(env.RUN_DIR, name)).mtimeMs);
      const before = times();
      const again = play('scaling/main.js', env);
      expect([again.status, times()]).toEqual([0, before]);
      expect(again.stderr.includes('8 desktops, real: measured before')).toBe(expected.length === 2);
    },
    LIMIT_MS,
  );
});
