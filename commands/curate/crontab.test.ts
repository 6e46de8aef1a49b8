import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { takeLock } from '../../lib/store/lock.ts';
import { trajectory } from '../../lib/store/trajectories.testing.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { Trajectory } from '../../lib/stream/records.ts';

/** The crontab of docs/cron.md, its command run as cron runs it: an almost empty environment and /bin/sh. */
const crontab = /```crontab\n([^`]+)```/.exec(readFileSync(join(packageRoot(), 'docs/cron.md'), 'utf8'))![1]!;
const command = crontab
  .split('\n')
  .filter((line) => /^[*\d]/.test(line))
  .map((line) => line.split(' ').slice(5).join(' ').replaceAll('\\%', '%'))[0]!;

let home: string;
let runs: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'dart-crontab-'));
  runs = join(home, 'runs');
  mkdirSync(runs);
});
afterEach(() => rmSync(home, { recursive: true }));

function cron() {
  const path = `PATH=${join(packageRoot(), 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const given = [`HOME=${home}`, 'LOGNAME=me', path, `RUNS=${runs}`, 'SHELL=/bin/sh'];
  const { status, stdout, stderr } = spawnSync('env', ['-i', ...given, 'sh', '-c', command], { encoding: 'utf8' });
  return { status, printed: stdout + stderr };
}

async function group(name: string): Promise<Trajectory[]> {
  const sha256 = await new BlobStore(join(runs, 'blobs')).put(Buffer.from(name));
  return [0, 1].map((index) => {
    const one = trajectory({ id: `${name}.${index}`, group: name, index, reward: index, steps: 1 });
    one.steps[0]!.observation.screenshot.sha256 = sha256;
    return one;
  });
}

const write = (trajectories: Trajectory[]) =>
  appendFileSync(join(runs, 'rollouts.ndjson'), trajectories.map((one) => `${JSON.stringify(one)}\n`).join(''));
const outputs = () =>
  readdirSync(join(runs, 'samples'))
    .sort()
    .map(
      (name) =>
        readFileSync(join(runs, 'samples', name), 'utf8')
          .trim()
          .split('\n').length,
    );
const log = () => readFileSync(join(runs, 'curate.log'), 'utf8');
const second = () => new Promise((resolve) => setTimeout(resolve, 1100));

describe('the crontab of docs/cron.md', () => {
  it('makes one file of samples each time, and is silent', async () => {
    expect(command).toContain('dart-curate rollouts.ndjson --cursor nightly');
    write(await group('g0'));
    expect(cron()).toEqual({ status: 0, printed: '' });
    expect(outputs()).toEqual([3]);
    await second();
    expect(cron()).toEqual({ status: 1, printed: '' });
    await second();
    write([...(await group('g1')), ...(await group('g2'))]);
    expect(cron()).toEqual({ status: 0, printed: '' });
    expect(outputs()).toEqual([3, 1, 5]);
    expect(log()).toBe('');
  });

  it('logs what goes wrong and leaves no half-written file', async () => {
    mkdirSync(join(runs, 'blobs'));
    writeFileSync(join(runs, 'rollouts.ndjson'), '{"type":"trajectory","v":1}\n');
    expect(cron()).toEqual({ status: 2, printed: '' });
    expect(log()).toMatch(/^dart-curate: .*rollouts\.ndjson:1: not a valid trajectory/);
    expect(readdirSync(join(runs, 'samples'))).toEqual([]);
  });

  it('removes what a run that was killed has left half-written, whatever its output was called', async () => {
    write(await group('g0'));
    mkdirSync(join(runs, 'samples'));
    const program = join(packageRoot(), 'bin/dart-curate');
    const killed = spawn(program, ['-o', 'samples/earlier.ndjson'], { cwd: runs, env: { ...process.env, HOME: home } });
    await vi.waitFor(() => expect(readdirSync(join(runs, 'samples'))).toHaveLength(1), { timeout: 60_000 });
    const [left] = readdirSync(join(runs, 'samples'));
    expect(left).toMatch(/^\.earlier\.ndjson\..*\.tmp$/);
    const ended = once(killed, 'exit');
    killed.kill('SIGKILL');
    await ended;
    expect(readdirSync(join(runs, 'samples'))).toEqual([left]);
    expect(cron().status).toBe(0);
    expect(readdirSync(join(runs, 'samples')).filter((name) => !/^\d{8}T\d{6}\.ndjson$/.test(name))).toEqual([]);
    expect(outputs()).toEqual([3]);
  });

  it('ends with 75 while another run is at it', async () => {
    write(await group('g0'));
    const unlock = takeLock(join(home, '.local/state/dart/cursors/nightly.lock'), 'dart-curate --cursor nightly');
    expect(cron()).toEqual({ status: 75, printed: '' });
    unlock();
    expect(log()).toContain(`another run holds the lock: process ${process.pid}`);
    expect(cron().status).toBe(0);
  });
});
