import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pidsWith, processesOf, xvfb } from '../../guest/x11/xvfb.testing.ts';
import type { Environment } from '../environment.ts';
import type { KindValues } from '../kind.ts';
import { openXvfb } from './driver.ts';
import { openXvfbFleet, removeOrphans } from './fleet.ts';
import { xvfbKind } from './kind.ts';
import { desktopsFolder, folderOf } from './note.ts';

const DEFAULTS = Object.fromEntries(xvfbKind.options.map((option) => [option.name, option.default]));
const VALUES: KindValues = { ...DEFAULTS, size: '640x480' };
const PATIENCE_MS = 60_000;

async function eventually(holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await holds()); await sleep(50)) {
    if (performance.now() > end) throw new Error(`it never came: ${holds}`);
  }
}

/** What the processes of a desktop are marked with. */
async function markOf({ guest }: Environment): Promise<string> {
  return (await guest.execute('echo $DART_DESKTOP', { shell: true })).output.trim();
}

describe('the kind', () => {
  it.each([
    [{ size: '640' }, '"640" is no size of a screen'],
    [{ user: 'no-such-user-here' }, 'no user no-such-user-here'],
    [{ skeleton: '/no/such/folder' }, 'no such folder'],
    [{ 'first-port': 65_535 }, '2 desktops do not fit between 65535 and 65535'],
  ])('refuses %j', async (values, message) => {
    await expect(openXvfb(2, { ...VALUES, ...values }, { runId: 'r' })).rejects.toThrow(message);
  });
});

describe.skipIf(!xvfb)('desktops under Xvfb', { timeout: 120_000 }, () => {
  let state: string;

  beforeAll(() => {
    state = mkdtempSync(join(tmpdir(), 'dart-state-'));
    vi.stubEnv('XDG_STATE_HOME', state);
    // Others that start desktops meanwhile are not to clean up what is left here.
    mkdirSync(join(state, 't'));
    vi.stubEnv('TMPDIR', join(state, 't'));
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(state, { recursive: true, force: true });
  });

  it('run side by side, are seen from outside, and leave nothing', async () => {
    const driver = await openXvfb(2, VALUES, { runId: 'run-1' });
    const environments = await Promise.all([driver.start(0, 'a-0'), driver.start(1, 'a-1')]);
    const marks = await Promise.all(environments.map(markOf));
    const [first, second] = environments as [Environment, Environment];
    const fleet = await openXvfbFleet();
    try {
      expect(new Set(marks).size).toBe(2);
      expect(await first.guest.screenshot()).toMatchObject({ width: 640, height: 480 });
      await first.guest.writeFile('/home/user/mine.txt', Buffer.from('1'));
      expect(await second.guest.readFile('/home/user/mine.txt')).toBeNull();
      expect(Buffer.from((await first.guest.readFile('/home/user/mine.txt'))!).toString()).toBe('1');
      await first.reset(1);
      expect(await first.guest.readFile('/home/user/mine.txt')).toBeNull();
      const members = await fleet.list();
      expect(members).toEqual(
        environments.map(({ id, serverUrl }) => ({
          ...{ id, driver: 'xvfb', run: 'run-1', state: 'ready', server_url: serverUrl },
          ...{ created_at: expect.stringMatching(/^\d{4}-.*Z$/), detached: false, orphan: false },
        })),
      );
      expect(await fleet.exec(members[0]!, ['echo', 'a b'])).toEqual({ output: 'a b\n', error: '', returncode: 0 });
    } finally {
      await Promise.all(environments.map((environment) => environment.close()));
    }
    expect(await fleet.list()).toEqual([]);
    expect(marks.flatMap(processesOf)).toEqual([]);
    expect(readdirSync(desktopsFolder())).toEqual([]);
  });

  it('leave nothing when the server is killed, and the call that fails says so', async () => {
    const driver = await openXvfb(1, VALUES, { runId: 'run-2' });
    const environment = await driver.start(0, 'b-0');
    const mark = await markOf(environment);
    const folder = (await environment.guest.desktopPath()).replace(/\/home\/Desktop$/, '');
    await environment.guest.launch('setsid sleep 1000', { shell: true });
    expect(existsSync(folder)).toBe(true);
    process.kill(serverOf('b-0'), 'SIGKILL');
    await expect(environment.guest.execute(['true'])).rejects.toThrow('has ended (SIGKILL)');
    await eventually(() => processesOf(mark).length === 0 && !existsSync(folder));
    const [member] = await (await openXvfbFleet()).list();
    expect(member).toMatchObject({ id: 'b-0', state: 'exited', orphan: false });
    await environment.close();
    expect(existsSync(folderOf('b-0'))).toBe(false);
  });

  it('are cleaned away by the next one when even the watcher was killed', async () => {
    const environment = await (await openXvfb(1, VALUES, { runId: 'run-3' })).start(0, 'c-0');
    const mark = await markOf(environment);
    const folder = (await environment.guest.desktopPath()).replace(/\/home\/Desktop$/, '');
    killByWord(folder);
    process.kill(serverOf('c-0'), 'SIGKILL');
    await expect(environment.guest.execute(['true'])).rejects.toThrow('has ended');
    expect(processesOf(mark).length).toBeGreaterThan(0);
    const next = await (await openXvfb(1, VALUES, { runId: 'run-3' })).start(0, 'c-1');
    expect([processesOf(mark), existsSync(folder)]).toEqual([[], false]);
    await next.close();
    await environment.close();
  });

  it('end with the process that started them, however it ends', async () => {
    const module = pathToFileURL(join(import.meta.dirname, '../../../dist/lib/environment/xvfb/driver.js')).href;
    const code = `const { openXvfb } = await import(${JSON.stringify(module)});
      const driver = await openXvfb(1, ${JSON.stringify(VALUES)}, { runId: 'run-4' });
      const { guest } = await driver.start(0, 'd-0');
      console.log((await guest.execute('echo $DART_DESKTOP', { shell: true })).output.trim());
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(owner.stdout, 'data')) as [Buffer];
    const mark = line.toString().trim();
    expect(processesOf(mark).length).toBeGreaterThan(3);
    owner.kill('SIGKILL');
    await eventually(() => processesOf(mark).length === 0);
    await eventually(async () => (await (await openXvfbFleet()).list())[0]?.state === 'exited');
    expect(await (await openXvfbFleet()).list()).toMatchObject([{ id: 'd-0', orphan: true }]);
    await removeOrphans();
    expect(await (await openXvfbFleet()).list()).toEqual([]);
  });

  it('outlive it when they are detached, until they are removed', async () => {
    const driver = await openXvfb(1, VALUES, { runId: 'run-5', detach: true });
    const environment = await driver.start(0, 'e-0');
    const mark = await markOf(environment);
    await environment.close();
    const fleet = await openXvfbFleet();
    const [member] = await fleet.list();
    expect(member).toMatchObject({ id: 'e-0', run: 'run-5', state: 'ready', detached: true, orphan: false });
    await removeOrphans();
    expect((await fleet.exec(member!, ['true'])).returncode).toBe(0);
    expect(await fleet.exec(member!, ['no-such-program'])).toMatchObject({
      ...{ error: 'there is no program no-such-program in the desktop\n', returncode: 127 },
    });
    await fleet.remove(member!);
    await fleet.remove(member!);
    expect(await fleet.list()).toEqual([]);
    await eventually(() => processesOf(mark).length === 0);
  });

  it('say what goes wrong while they start', async () => {
    const blocker = await (await openXvfb(1, VALUES, { runId: 'run-6' })).start(0, 'f-0');
    const port = Number(new URL(blocker.serverUrl!).port);
    const driver = await openXvfb(1, { ...VALUES, 'first-port': port }, { runId: 'run-6' });
    await expect(driver.start(0, 'f-1')).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
    expect((await (await openXvfbFleet()).list()).map(({ id }) => id)).toEqual(['f-0']);
    await blocker.close();
  });
});

/** Number of a desktop's guest server. */
function serverOf(id: string): number {
  return pidsWith(`--id\0${id}\0`)[0]!;
}

/** Kills processes that have the word among their arguments. */
function killByWord(word: string): void {
  const found = pidsWith(word).filter((pid) => pid !== process.pid);
  expect(found.length).toBeGreaterThan(0);
  for (const pid of found) process.kill(pid, 'SIGKILL');
}
