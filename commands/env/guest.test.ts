import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { processesOf, xvfb } from '../../lib/guest/x11/xvfb.testing.ts';
import { compile } from '../../lib/store/compiled.testing.ts';
import type { Env } from '../../lib/stream/records.ts';

const TOKEN = 'c2VjcmV0';

describe.skipIf(!xvfb)('one desktop and its server', () => {
  let compiled = '';
  beforeAll(async () => {
    compiled = await compile('commands/env/main.ts', 'commands/env/guest_server.ts', 'native/index.ts');
    symlinkSync(join(packageRoot(), 'fixtures'), join(compiled, 'fixtures'));
    for (const name of ['binding.gyp', 'build'])
      symlinkSync(join(packageRoot(), 'native', name), join(compiled, 'native', name));
  });
  afterAll(() => rmSync(compiled, { recursive: true, force: true }));

  /** Starts it, and resolves when it is ready. */
  async function started(file: string, args: string[], env: Record<string, string> = {}) {
    const path = join(compiled, 'commands/env', file);
    const child = execa('node', [path, ...args, '--port', '0', '--size', '320x240'], {
      reject: false,
      stdin: 'pipe',
      env,
    });
    const first = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data))));
    const record = JSON.parse(first.split('\n')[0]!) as Env;
    const mark = await markOf(record.server_url!, env.DART_GUEST_TOKEN);
    expect(processesOf(mark).length).toBeGreaterThan(3);
    return { child, record, mark };
  }

  async function markOf(url: string, token?: string): Promise<string> {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const body = JSON.stringify({ command: 'echo $DART_DESKTOP', shell: true });
    const answer = await fetch(`${url}/execute`, { method: 'POST', headers, body });
    return ((await answer.json()) as { output: string }).output.trim();
  }

  it('dart-env guest holds it until a signal, says so, and leaves nothing', async () => {
    const { child, record, mark } = await started('main.js', ['guest']);
    expect(record).toMatchObject({ type: 'env', driver: 'xvfb', state: 'ready', screen: { width: 320, height: 240 } });
    const shot = await fetch(`${record.server_url}/screenshot`);
    expect([shot.status, shot.headers.get('content-type')]).toEqual([200, 'image/png']);
    child.kill('SIGTERM');
    const { exitCode, stdout } = await child;
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.map(({ type, state }) => [type, state])).toEqual([
      ['env', 'ready'],
      ['env', 'stopped'],
      ['summary', undefined],
    ]);
    expect([exitCode, processesOf(mark)]).toEqual([143, []]);
  });

  it('guest_server ends when its standard input does, where it is told to', async () => {
    const { child, mark } = await started('guest_server.js', ['--id', 'held', '--hold']);
    child.stdin!.end();
    expect((await child).exitCode).toBe(0);
    expect(processesOf(mark)).toEqual([]);
  });

  it('wants a token where others can reach it, and shows it to nobody', async () => {
    const path = join(compiled, 'commands/env/guest_server.js');
    const refused = await execa('node', [path, '--port', '0', '--host', '0.0.0.0'], { reject: false });
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('needs a token')]);
    const env = { DART_GUEST_TOKEN: TOKEN };
    const { child, record, mark } = await started('guest_server.js', ['--host', '0.0.0.0'], env);
    const url = record.server_url!.replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${url}/platform`)).status).toBe(401);
    expect((await fetch(`${url}/platform`, { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
    const pids = processesOf(mark).map((line) => Number.parseInt(line, 10));
    const shown = pids.filter((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8').includes(TOKEN));
    expect([JSON.stringify(record).includes(TOKEN), shown]).toEqual([false, []]);
    child.kill('SIGINT');
    expect((await child).exitCode).toBe(130);
  });

  it('takes no home with files in it, and no size that is none', async () => {
    const home = mkdtempSync(join(tmpdir(), 'dart-home-'));
    symlinkSync('/etc/hostname', join(home, 'precious'));
    const run = (...args: string[]) =>
      execa('node', [join(compiled, 'commands/env/main.js'), 'guest', ...args], { reject: false });
    const used = await run('--home', home, '--port', '0');
    expect([used.exitCode, used.stderr]).toEqual([2, expect.stringContaining(`${home}: this folder has files`)]);
    expect(await run('--size', '10')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('no size') });
    rmSync(home, { recursive: true });
  });
});
