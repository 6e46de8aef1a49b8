import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode } from 'fast-png';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeGuestServer } from '../../guest/contract.testing.ts';
import { evaluateTask } from '../../osworld/evaluate.ts';
import { expertAction, expertOf } from '../../osworld/expert.ts';
import { loadTasks } from '../../osworld/load.ts';
import { setupTask } from '../../osworld/setup.ts';
import { nodesOf } from '../../osworld/tree.ts';
import type { Task } from '../../stream/records.ts';
import type { Environment } from '../environment.ts';
import { EnvironmentPool } from '../pool.ts';
import { containersOf, docker, driverOf, newRun, removeRun, until } from './docker.testing.ts';
import { openDockerFleet } from './fleet.ts';

const TASKS = join(import.meta.dirname, '../../../fixtures/tasks/desktop');
const LIMIT_MS = 180_000;

async function taskOf(id: string): Promise<Task> {
  for await (const item of loadTasks(TASKS)) if ('task_id' in item && item.task_id === id) return item;
  throw new Error(`there is no task ${id}`);
}

/** Plays the task's expert by mouse and keyboard. */
async function play(task: Task, { guest }: Environment): Promise<void> {
  for (const step of expertOf(task)!) {
    const action = expertAction(step, await guest.accessibility());
    if (action.type !== 'finished') await guest.act(action);
  }
}

const names = async ({ guest }: Environment) =>
  [...nodesOf(await guest.accessibility())].filter(({ role }) => role === 'frame').map(({ name }) => name);

describe.skipIf(!docker)('desktops in containers', { timeout: LIMIT_MS }, () => {
  const run = newRun();
  let desktops: Environment[] = [];

  beforeAll(async () => {
    const { driver } = await driverOf(4, { size: '1024x700' }, { runId: run });
    desktops = await Promise.all([0, 1, 2, 3].map((place) => driver.start(place, `docker-${place}`)));
  }, LIMIT_MS);
  afterAll(() => removeRun(run));

  it('are four at a time, each with a server of its own on loopback', async () => {
    const urls = desktops.map(({ serverUrl }) => serverUrl!);
    expect(new Set(urls).size).toBe(4);
    for (const url of urls) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    for (const { Id } of await docker!.listContainers({ filters: JSON.stringify({ label: [`dart.run=${run}`] }) })) {
      const { HostConfig } = await docker!.getContainer(Id).inspect();
      const bindings = Object.values(HostConfig.PortBindings as Record<string, { HostIp: string }[]>).flat();
      expect(bindings.map(({ HostIp }) => HostIp)).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
    }
  });

  it('give the expert 1 for a file that is edited and saved by mouse and keyboard, and 0 to who does nothing', async () => {
    const task = await taskOf('os-editor-add-line');
    const [worker, idler] = [desktops[0]!, desktops[1]!];
    for (const { guest } of [worker, idler]) await setupTask(task, guest);
    await until(async () => (await names(worker)).some((name) => name.startsWith('list.txt')));
    const before = await worker.guest.screenshot();
    await play(task, worker);
    const options = { lastAction: { type: 'finished' } as const };
    // The editor saves a moment after the click.
    await until(async () => (await evaluateTask(task, worker.guest, options)) === 1);
    expect(await evaluateTask(task, idler.guest, options)).toBe(0);
    const after = await worker.guest.screenshot();
    for (const frame of [before, after]) {
      expect(decode(frame.png())).toMatchObject({ width: 1024, height: 700 });
    }
    expect(Buffer.from(after.rgb()).equals(Buffer.from(before.rgb()))).toBe(false);
    expect(await names(worker)).toContain('list.txt (~/Documents) - gedit');
  });

  it('do not reach each other', async () => {
    const [one, two] = await Promise.all(
      desktops.slice(0, 2).map(async ({ guest }) => (await guest.execute('hostname -i')).output.trim()),
    );
    expect(one).not.toBe(two);
    const asked = ['curl', '--silent', '--max-time', '3', '--output', '/dev/null'];
    const ask = async (address: string) =>
      (await desktops[0]!.guest.execute([...asked, `http://${address}:5000/platform`])).returncode;
    expect(await ask(one!)).toBe(0);
    expect(await ask(two!)).not.toBe(0);
  });

  it('show the browser to whoever debugs it', async () => {
    const { guest, cdpUrl } = desktops[2]!;
    await guest.launch(['google-chrome', '--remote-debugging-port=1337', 'about:blank']);
    const version = () =>
      fetch(`${cdpUrl}/json/version`).then(
        (response) => response.json(),
        () => null,
      );
    await until(async () => (await version()) !== null);
    expect(await version()).toMatchObject({ Browser: expect.stringMatching(/^Chrome\//) });
  });

  it('name the container that was killed in the middle of a call, and are gone when they are closed', async () => {
    const { guest, close } = desktops[3]!;
    const started = `/tmp/started-${run}`;
    const call = guest.execute(['sh', '-c', `touch ${started}; sleep 600`], { timeoutMs: 600_000 });
    const outcome = call.then(
      () => null,
      (error: unknown) => error,
    );
    await until(async () => (await guest.readFile(started)) !== null);
    const { Id } = (
      await docker!.listContainers({ filters: JSON.stringify({ label: [`dart.env=docker-3`, `dart.run=${run}`] }) })
    )[0]!;
    await docker!.getContainer(Id).kill();
    const short = Id.slice(0, 12);
    expect(await outcome).toMatchObject({
      name: 'DartError',
      where: 'docker-3',
      message: expect.stringContaining(`its container ${short} ended with exit code 137`),
    });
    await expect(guest.screenshot()).rejects.toThrow(`its container ${short} ended`);
    await close();
    expect(await containersOf(run)).toHaveLength(3);
  });

  it('are looked into by name: their logs, a program', async () => {
    const fleet = await openDockerFleet({});
    const member = (await fleet.list()).find((one) => one.run === run && one.id === 'docker-0')!;
    expect(member).toMatchObject({
      driver: 'docker',
      server_url: desktops[0]!.serverUrl,
      detached: false,
      orphan: false,
    });
    let log = '';
    for await (const text of fleet.logs(member, {})) log += text;
    expect(log).toContain('"state":"ready"');
    expect(await fleet.exec(member, ['sh', '-c', 'echo out; echo err >&2; exit 3'])).toEqual({
      output: 'out\n',
      error: 'err\n',
      returncode: 3,
    });
    const stop = new AbortController();
    const followed: string[] = [];
    const following = (async () => {
      for await (const text of fleet.logs(member, { follow: true, tail: 1, signal: stop.signal })) {
        followed.push(text);
        stop.abort();
      }
    })();
    await following;
    expect(followed).toHaveLength(1);
  });
});

describe.skipIf(!docker)('a pool of containers', { timeout: LIMIT_MS }, () => {
  const run = newRun();
  afterAll(() => removeRun(run));

  it('leases another container after one was killed, and after each rollout', async () => {
    const { driver } = await driverOf(1, {}, { runId: run });
    const pool = new EnvironmentPool([driver]);
    try {
      const first = await pool.lease();
      await first.reset(0);
      const [id] = await containersOf(run);
      await docker!.getContainer(id!).kill();
      const failed = await first.guest.screenshot().catch((error: unknown) => error);
      pool.release(first, { failed });
      const second = await pool.lease();
      await second.reset(1);
      await second.guest.writeFile('/home/user/mine.txt', Buffer.from('mine'));
      pool.release(second);
      const third = await pool.lease();
      await third.reset(2);
      expect(await third.guest.readFile('/home/user/mine.txt')).toBeNull();
      expect(new Set([first.serverUrl, second.id, third.id]).size).toBe(3);
      pool.release(third);
    } finally {
      await pool.close();
    }
    await until(async () => (await containersOf(run)).length === 0);
  });

  it('restarts the session in the same container with reset=session', async () => {
    const { driver } = await driverOf(1, { reset: 'session' }, { runId: run });
    const desktop = await driver.start(0, 'docker-0');
    expect(desktop.disposable).toBeUndefined();
    await desktop.guest.writeFile('/home/user/mine.txt', Buffer.from('mine'));
    await desktop.guest.execute('sleep 999 & echo started');
    await desktop.reset(1);
    expect(await desktop.guest.readFile('/home/user/mine.txt')).toBeNull();
    expect((await desktop.guest.execute('pgrep -x sleep')).output).toBe('');
    expect(await containersOf(run)).toHaveLength(1);
    await desktop.close();
  });
});

describe.skipIf(!docker)("OSWorld's profile", { timeout: LIMIT_MS }, () => {
  const run = newRun();
  const folder = mkdtempSync(join(tmpdir(), 'dart-qcow2-'));
  afterAll(async () => {
    await removeRun(run);
    rmSync(folder, { recursive: true, force: true });
  });

  // Its image is not at hand: ours stands in for it, with an empty disk.
  it('gives the machine its disk to read, its variables, and the port of its screen', async () => {
    const qcow2 = join(folder, 'Ubuntu.qcow2');
    writeFileSync(qcow2, 'disk');
    const given = { profile: 'osworld', image: 'dart-desktop:slim', qcow2, emulate: true, 'vm-cpus': 2 };
    const { driver } = await driverOf(1, given, { runId: run });
    const desktop = await driver.start(0, 'docker-0');
    const says = async (command: string) => (await desktop.guest.execute(command)).output.trim();
    expect(await says('cat /System.qcow2')).toBe('disk');
    expect(await says('echo password | sudo -S sh -c "echo x > /System.qcow2" 2>&1')).toContain('Read-only');
    const [id] = await containersOf(run);
    const { Config, HostConfig } = await docker!.getContainer(id!).inspect();
    expect(Config.Env).toEqual(expect.arrayContaining(['DISK_SIZE=32G', 'RAM_SIZE=4G', 'CPU_CORES=2', 'KVM=N']));
    expect(HostConfig.CapAdd).toEqual(['NET_ADMIN']);
    expect(new Set([desktop.serverUrl, desktop.cdpUrl, desktop.vlcUrl, desktop.vncUrl]).size).toBe(4);
    expect(desktop).toMatchObject({ disposable: true, waits: { afterResetMs: 60_000 } });
    await desktop.close();
  });
});

describe.skipIf(!docker)('a container', () => {
  const run = newRun();
  afterAll(() => removeRun(run));
  describeGuestServer('the desktop image', async () => {
    const { driver } = await driverOf(1, { memory: '2g' }, { runId: run });
    const { serverUrl, close } = await driver.start(0, 'docker-0');
    return { url: serverUrl!, ownUrl: 'http://127.0.0.1:5000', close };
  });
});
