import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';

/** The programs as make starts them, with the built commands as processes, and budgets that say nothing. */
const root = packageRoot();
const dir = mkdtempSync(join(tmpdir(), 'dart-ablation-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** On a machine with nothing else to do each takes some seconds. */
const LIMIT_MS = 900_000;

const TINY = {
  ...{ SEEDS: '1', TRAIN_SECONDS: '2', TRAJECTORIES: '16', LIMIT_SECONDS: '40', POINTS: '1', REPEATS: '1' },
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
    },
    LIMIT_MS,
  );

  it('says what makes no sense', () => {
    const { status, stderr } = play('main.js', { ...env, ARMS: 'ful' });
    expect([status, stderr]).toEqual([2, expect.stringContaining('there is no arm ful. Try: ARMS=baseline,')]);
  });
});

describe('make arpo', () => {
  it(
    'learns from stored rollouts and from its own, and tells both',
    () => {
      const env = {
        ...{ ...TINY, RUN_DIR: join(dir, 'arpo'), ARMS: 'kto,arpo', OFFLINE_SECONDS: '2', CASE_REPEATS: '2' },
        ...{ SELECT_ROLLOUTS: '2', IN_DOMAIN: '12' },
      };
      const { status, stdout, stderr } = play('arpo/main.js', env);
      expect([status, stderr.slice(-2000)]).toEqual([0, expect.stringContaining('Task selection')]);
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
      const env = { RUN_DIR: join(dir, 'scaling'), DESKTOPS: '8,16', REAL_DESKTOPS: '8', SCALE: '600', BATCHES: '1' };
      const { status, stdout, stderr } = play('scaling/main.js', env);
      expect([status, stderr.slice(-2000)]).toEqual([0, expect.stringContaining('| 16 | – | – |')]);
      const names = namesIn(stdout);
      expect(names).toContain('rollout-scaling/real/batch/8');
      expect(names).not.toContain('rollout-scaling/real/batch/16');
      expect(read('scaling/rollout-scaling.svg')).toContain('<title>coupled, real: 8,');
    },
    LIMIT_MS,
  );
});
