import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { compile } from '../../lib/store/compiled.testing.ts';
import type { Env } from '../../lib/stream/records.ts';
import { spec } from './spec.ts';

/** What only shows in real processes: who ends when, and what is left of it. */
const ROOT = packageRoot();
const SUITE = join(ROOT, 'fixtures/tasks/embedded');

let compiled = '';
let dir = '';
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dart-up-'));
  compiled = await compile(
    ...['env', 'rollout', 'eval'].map((command) => `commands/${command}/main.ts`),
    'native/index.ts',
  );
  for (const name of ['binding.gyp', 'build']) symlinkSync(join(ROOT, 'native', name), join(compiled, 'native', name));
});
afterAll(() => {
  for (const folder of [dir, compiled]) rmSync(folder, { recursive: true, force: true });
});

const main = (command: string) => join(compiled, `commands/${command}/main.js`);
const answers = async (url: string | null) => (await fetch(`${url}/platform`).catch(() => null))?.ok ?? false;

function shell(line: string) {
  return execa('bash', ['-o', 'pipefail', '-c', line], { cwd: dir, reject: false, stdin: 'ignore' });
}

/** `dart-env up` alone, once its first desktop is ready. */
async function started(...args: string[]) {
  const child = execa('node', [main('env'), 'up', '--quiet', ...args], { reject: false, stdin: 'ignore' });
  const line = await new Promise<string>((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))));
  return { child, env: JSON.parse(line.split('\n')[0]!) as Env };
}

describe('dart-env up', () => {
  it('holds desktops for the rollouts that read it, and ends with them', async () => {
    const { exitCode, stdout, stderr } = await shell(
      [
        `node ${main('env')} up --driver embedded -n 2 --quiet --table 2> table`,
        `node ${main('rollout')} --tasks ${SUITE} --env - --policy script -n 1 --blobs blobs --quiet`,
        `node ${main('eval')} score - --quiet`,
      ].join(' | '),
    );
    expect([exitCode, stderr]).toEqual([0, '']);
    const summary = JSON.parse(stdout.trim().split('\n').at(-1)!);
    expect(summary).toMatchObject({ type: 'summary', command: 'dart-eval', success: 1 });
    const urls = readFileSync(join(dir, 'table'), 'utf8').match(/http:\S+/g) ?? [];
    expect(await Promise.all(urls.map(answers))).toEqual([false, false]);
  });

  it('notices that its reader has left although it has nothing to write', async () => {
    const { exitCode, stdout, stderr } = await shell(`node ${main('env')} up -n 1 --quiet | head -n 1`);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(await answers(JSON.parse(stdout).server_url)).toBe(false);
  });

  it('notices that the reader behind its reader has left', async () => {
    const { exitCode, stdout } = await shell(
      `node ${main('env')} up -n 1 --quiet | tee all | head -n 1; exit $PIPESTATUS`,
    );
    expect(exitCode).toBe(0);
    expect(await answers(JSON.parse(stdout).server_url)).toBe(false);
  });

  it('is joined by a rollout that begins with its first desktop and takes the later ones', async () => {
    const { exitCode, stdout } = await shell(
      [
        `(node ${main('env')} up -n 1 --quiet & node ${main('env')} up -n 2 --quiet)`,
        `node ${main('rollout')} --tasks ${SUITE} --env - --policy script -n 1 --blobs blobs --quiet`,
      ].join(' | '),
    );
    const summary = JSON.parse(stdout.trim().split('\n').at(-1)!);
    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({ type: 'summary', outcomes: { env_error: 0 }, desktop_counts: { booted: 3 } });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('on %s removes the desktops, says so and exits %i', async (signal, code) => {
    const { child, env } = await started('--grace', '0');
    expect(await answers(env.server_url)).toBe(true);
    child.kill(signal);
    const { exitCode, stdout, stderr } = await child;
    expect([exitCode, stderr]).toEqual([code, '']);
    expect(stdout.split('\n').map((line) => JSON.parse(line))).toEqual([
      env,
      { ...env, state: 'stopped' },
      expect.objectContaining({ type: 'summary', command: 'dart-env up', desktops: 1, missing: 0, booted: 1 }),
    ]);
    expect(await answers(env.server_url)).toBe(false);
  });

  it('at Ctrl-C leaves the desktops to its reader, which gets it too, until that has ended', async () => {
    const rollout = `node ${main('rollout')} --tasks ${SUITE} --env - --policy random --follow --blobs blobs --quiet`;
    const line = `node ${main('env')} up --grace 60 --latency 20 --quiet | ${rollout}`;
    // A group of its own, as a terminal gives every pipe; bash itself waits for it.
    const script = `trap : INT; ${line}`;
    const child = execa('bash', ['-o', 'pipefail', '-c', script], { cwd: dir, reject: false, detached: true });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    process.kill(-child.pid!, 'SIGINT');
    const { exitCode, stdout, stderr } = await child;
    expect(exitCode).toBe(130);
    expect(stderr).not.toContain('desktop');
    const summary = JSON.parse(stdout.trim().split('\n').at(-1)!);
    expect(summary).toMatchObject({ type: 'summary', desktop_failures: 0, outcomes: { env_error: 0 } });
  });
});

describe('dart-env up, in process', () => {
  it('says which port is taken', async () => {
    const { child, env } = await started();
    const io = testIo();
    const { port } = new URL(env.server_url!);
    expect(await runCommand(spec, ['up', '--port', port], io)).toBe(2);
    expect(io.err()).toContain(`cannot listen on 127.0.0.1:${port}`);
    child.stdout.destroy();
    await child;
  });

  it('says that there are not so many ports', async () => {
    const io = testIo();
    expect(await runCommand(spec, ['up', '-n', '3', '--port', '65534'], io)).toBe(2);
    expect(io.err()).toContain('--port: 3 desktops do not fit between 65534 and 65535');
  });

  it('with --dry-run says what is missing', async () => {
    const dry = async (...args: string[]) => {
      const io = testIo();
      return [await runCommand(spec, ['up', '--dry-run', '--driver', ...args], io), io.err()];
    };
    expect(await dry('kubernetes')).toEqual([2, expect.stringContaining('there is no image for the desktops')]);
    expect(await dry('kubernetes', '--image', 'desktop:1')).toEqual([0, expect.stringContaining('would start')]);
    expect(await dry('docker', '--size', 'large')).toEqual([2, expect.stringContaining('no size of a screen')]);
    expect(await dry('xvfb', '--size', 'large')).toEqual([2, expect.stringContaining('no size of a screen')]);
  });

  it('with --dry-run starts nothing', async () => {
    const io = testIo();
    expect(await runCommand(spec, ['up', '-n', '3', '--latency', '20', '--dry-run'], io)).toBe(0);
    expect([io.out(), io.err()]).toEqual(['', 'dart-env: would start embedded:3,latency=20\n']);
  });
});
