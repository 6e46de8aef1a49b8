import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { smallWorkload } from '../../lib/rollout/simulate/workload.testing.ts';
import { spec } from './spec.ts';
import { workersOf } from './workers.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-limits-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SUITE = join(packageRoot(), 'fixtures/tasks/embedded');
const BASE = join(packageRoot(), 'fixtures/policies/base.onnx');
const ROLLOUT = ['--tasks', SUITE, '--policy', `onnx:${BASE}`, '--dry-run', '--quiet'];
const RANDOM = ['--tasks', SUITE, '--policy', 'random', '--dry-run', '--quiet'];
const SERVE = ['serve', '--policy', `onnx:${BASE}`, '--dry-run', '--quiet'];

async function run(args: string[]): Promise<{ code: number; err: string }> {
  const io = testIo({ cwd: folder, env: { XDG_CONFIG_HOME: '/nonexistent' } });
  return { code: await runCommand(spec, args, io), err: io.err() };
}

describe('numbers that there would be a list for', () => {
  it.each([
    [ROLLOUT, '--rollouts', '5000000000', '1 to 4096'],
    [ROLLOUT, '--rollouts', '9007199254740991', '1 to 4096'],
    [ROLLOUT, '--window', '4097', '1 to 4096'],
    [ROLLOUT, '--batch-groups', '4097', '1 to 4096'],
    [ROLLOUT, '--workers', '1025', '1 to 1024'],
    [ROLLOUT, '--threads', '100000', '1 to 1024'],
    [ROLLOUT, '--temperature', '1e-308', '0, or 0.000001 to 1000000'],
    [ROLLOUT, '--temperature', '9e-7', '0, or 0.000001 to 1000000'],
    [ROLLOUT, '--temperature', '2e6', '0, or 0.000001 to 1000000'],
    [ROLLOUT, '--temperature', '-1', '0, or 0.000001 to 1000000'],
    [SERVE, '--workers', '1025', '1 to 1024'],
    [SERVE, '--threads', '1025', '1 to 1024'],
    [['simulate'], '--desktops', '10001', '1 to 10000'],
    [['simulate'], '--workers', '10001', '1 to 10000'],
    [['simulate'], '--gpus', '10001', '1 to 10000'],
    [['simulate'], '--hours', '8761', '0.01 to 8760'],
  ])('%s %s %s is refused with its limits', async (command, option, value, range) => {
    const { code, err } = await run([...command, option, value]);
    expect(code).toBe(2);
    expect(err).toMatch(new RegExp(`${option}: expected an? (integer|number), ${range}, but received '${value}'`));
  });

  it('are taken up to the limit', async () => {
    const most = ['-n', '4096', '--window', '4096', '--batch-groups', '4096', '--workers', '1024', '--threads', '1024'];
    expect((await run([...RANDOM, ...most])).code).toBe(0);
    for (const temperature of ['0', '0.000001', '1000000']) {
      expect((await run([...RANDOM, '--temperature', temperature])).code).toBe(0);
    }
  });

  it('of a workload have a limit, too', async () => {
    writeFileSync(
      join(folder, 'vast.json'),
      JSON.stringify({ ...smallWorkload(), rollouts: { value: 5e9, source: 'none' } }),
    );
    const { code, err } = await run(['simulate', '--workload', 'vast.json']);
    expect([code, err]).toEqual([2, expect.stringMatching(/vast\.json: rollouts\.value: .*10000/)]);
  });
});

describe('threads of all workers together', () => {
  const said = (workers: number, threads: number, sum: number) =>
    `--threads: ${workers} workers of ${threads} threads are ${sum} threads. Try: at most 4096 in all`;

  it('have a limit', async () => {
    for (const command of [ROLLOUT, SERVE]) {
      const { code, err } = await run([...command, '--workers', '5', '--threads', '1000']);
      expect([code, err]).toEqual([2, expect.stringContaining(said(5, 1000, 5000))]);
    }
  });

  it('are 4096 at most', () => {
    const options = { policy: `onnx:${BASE}`, workers: 4, threads: 1024 };
    expect(workersOf({ options })).toEqual({ workers: 4, threads: 1024 });
    expect(() => workersOf({ options: { ...options, workers: 5 } })).toThrow('5 workers of 1024 threads');
  });

  it('are none of a policy that has no threads', async () => {
    expect((await run([...RANDOM, '--workers', '5', '--threads', '1000'])).code).toBe(0);
  });
});
