import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { compile } from '../../lib/store/compiled.testing.ts';

/** What only shows in real processes: a reader that leaves, signals, a full disk. */
const ROOT = packageRoot();
const SUITE = join(ROOT, 'fixtures/tasks/embedded');

let compiled = '';
let dir = '';
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dart-pipes-'));
  compiled = await compile('commands/rollout/main.ts', 'native/index.ts');
  for (const name of ['binding.gyp', 'build']) symlinkSync(join(ROOT, 'native', name), join(compiled, 'native', name));
});
afterAll(() => {
  for (const folder of [dir, compiled]) rmSync(folder, { recursive: true, force: true });
});

const endless = (...more: string[]) => [
  ...[join(compiled, 'commands/rollout/main.js'), '--tasks', SUITE, '--policy', 'random', '--follow'],
  ...['--blobs', join(dir, 'blobs'), ...more],
];

function shell(line: string) {
  return execa('bash', ['-o', 'pipefail', '-c', line], { cwd: dir, reject: false });
}

describe('dart-rollout in a pipe', () => {
  it.each([
    ['fast', []],
    ['slow', ['--env', 'embedded:2,reset=300,latency=50']],
  ])('ends quietly when its reader has left: %s desktops', async (_, more) => {
    const { exitCode, stdout, stderr } = await shell(`node ${endless('--quiet', ...more).join(' ')} | head -n 1`);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'trajectory' });
    expect(stdout.split('\n')).toHaveLength(1);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('on %s lets what is under way end, sums up and exits %i', async (signal, code) => {
    const child = execa('node', endless('--quiet', '-n', '2'), { reject: false });
    child.stdout.once('data', () => child.kill(signal));
    const { exitCode, stdout } = await child;
    expect(exitCode).toBe(code);
    // Every line is whole, and the last one says how many there are.
    const records = stdout.split('\n').map((line) => JSON.parse(line));
    expect(records.at(-1)).toMatchObject({ type: 'summary', trajectories: records.length - 1 });
  });

  it('says that the disk is full', async () => {
    const { exitCode, stderr } = await shell(`node ${endless('--quiet').join(' ')} > /dev/full`);
    expect(exitCode).toBe(2);
    expect(stderr).toBe('dart-rollout: stdout: cannot write: the disk is full. Try: free some space, or another disk');
  });
});
