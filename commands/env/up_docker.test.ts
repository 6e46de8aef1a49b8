import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { containersOf, docker, removeRun } from '../../lib/environment/docker/docker.testing.ts';
import { compile } from '../../lib/store/compiled.testing.ts';
import type { Env } from '../../lib/stream/records.ts';

const ROOT = packageRoot();
const LIMIT_MS = 300_000;

/** The commands in processes of their own, with containers: who removes what, and when. */
describe.skipIf(!docker)('dart-env with containers', { timeout: LIMIT_MS }, () => {
  const run = (name: string) => `cli-${process.pid}-${name}`;
  let compiled = '';
  let dir = '';
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'dart-up-docker-'));
    compiled = await compile(...['env', 'rollout'].map((name) => `commands/${name}/main.ts`), 'native/index.ts');
    for (const name of ['binding.gyp', 'build'])
      symlinkSync(join(ROOT, 'native', name), join(compiled, 'native', name));
  }, LIMIT_MS);
  afterAll(async () => {
    for (const name of ['chain', 'twice', 'stay']) await removeRun(run(name));
    for (const folder of [dir, compiled]) rmSync(folder, { recursive: true, force: true });
  }, LIMIT_MS);

  const main = (command: string) => join(compiled, `commands/${command}/main.js`);
  const env = (...args: string[]) =>
    execa('node', [main('env'), ...args], { cwd: dir, reject: false, stdin: 'ignore' });
  const records = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('ends a pipe with tee in it, replaces used containers, and leaves none', async () => {
    const up = `node ${main('env')} up --driver docker -n 1 --spares 1 --run-id ${run('chain')} --after-reset 0 --before-evaluate 0 --quiet`;
    const tasks = join(ROOT, 'fixtures/tasks/desktop');
    const rollout = `node ${main('rollout')} --tasks ${tasks} --env - --policy fixed:finished -n 2 --blobs blobs --quiet`;
    const line = `${up} | tee envs | ${rollout}`;
    const { stdout } = await execa('bash', ['-c', line], { cwd: dir, reject: false, stdin: 'ignore' });
    const [one, two, summary] = records(stdout);
    expect([one, two].map(({ outcome, reward }) => [outcome, reward])).toEqual([
      ['failure', 0],
      ['failure', 0],
    ]);
    expect(one.env_id).not.toBe(two.env_id);
    expect(summary).toMatchObject({ desktop_failures: 0, desktop_counts: { booted: 2, replaced: 1, retired: 0 } });
    expect(readFileSync(join(dir, 'envs'), 'utf8')).toContain('"replace_url":"http://127.0.0.1:');
    expect(await containersOf(run('chain'))).toEqual([]);
  });

  it('says at a second Ctrl-C what stays behind, which down removes', async () => {
    const child = env('up', '--driver', 'docker', '--run-id', run('twice'), '--grace', '60', '--quiet');
    await new Promise((resolve) => child.stdout.once('data', resolve));
    // After the first one it waits for its reader; another one that comes at once is taken for the same press.
    const pressing = setInterval(() => child.kill('SIGINT'), 200);
    const { exitCode, stderr } = await child;
    clearInterval(pressing);
    const advice = `dart-env: desktops stay behind. Try: dart-env down --run ${run('twice')}`;
    expect([exitCode, stderr]).toEqual([130, advice]);
    expect(await containersOf(run('twice'))).toHaveLength(1);
    const listed = records((await env('list', '--run', run('twice'), '--quiet')).stdout);
    expect(listed[0]).toMatchObject({ run_id: run('twice'), orphan: true, detached: false });
    const down = await env('down', '--run', run('twice'), '--quiet');
    expect([down.exitCode, await containersOf(run('twice'))]).toEqual([0, []]);
  });

  it('leaves detached ones for the other commands, by name', async () => {
    const up = await env(
      'up',
      '--driver',
      'docker',
      '--detach',
      '--run-id',
      run('stay'),
      '--size',
      '900x600',
      '--quiet',
    );
    const [desktop] = records(up.stdout) as [Env];
    expect([up.exitCode, desktop.state, desktop.replace_url]).toEqual([0, 'ready', undefined]);
    const { env_id: id } = desktop;
    const [listed] = records((await env('list', '--run', run('stay'), '--quiet')).stdout);
    expect(listed).toMatchObject({ env_id: id, state: 'ready', detached: true, screen: { width: 900, height: 600 } });
    const program = await env('exec', id, '--quiet', '--', 'sh', '-c', 'echo out; echo err >&2; exit 4');
    expect([program.exitCode, program.stdout, program.stderr]).toEqual([4, 'out', 'err']);
    const shot = records((await env('screenshot', id, '-o', 'one.png', '--quiet')).stdout);
    expect(shot[0]).toMatchObject({ event: 'screenshot', width: 900, height: 600 });
    expect((await env('act', id, 'move(100,50)', '--quiet')).exitCode).toBe(0);
    expect((await env('logs', id, '--quiet')).exitCode).toBe(0);
    expect((await env('down', '--orphans', '--run', run('none'), '--quiet')).exitCode).toBe(0);
    expect(await containersOf(run('stay'))).toHaveLength(1);
    expect((await env('down', id, '--quiet')).exitCode).toBe(0);
    expect(await containersOf(run('stay'))).toEqual([]);
  });
});
