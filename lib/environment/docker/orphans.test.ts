import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../store/compiled.testing.ts';
import type { FleetMember } from '../kind.ts';
import { containersOf, docker, driverOf, newRun, removeRun } from './docker.testing.ts';
import { type DockerFleet, openDockerFleet } from './fleet.ts';

describe.skipIf(!docker)('containers of a process that was killed', { timeout: 180_000 }, () => {
  const runs = { killed: newRun(), detached: newRun(), mine: newRun() };
  let folder = '';
  let fleet: DockerFleet;
  /** A container of somebody else, which looks much like ours. */
  let stranger = '';

  beforeAll(async () => {
    folder = await compile('lib/environment/docker/holder.testing.ts');
    fleet = await openDockerFleet({});
    const other = await docker!.createContainer({
      Image: 'dart-desktop:slim',
      Labels: { 'dart.run': runs.killed },
      HostConfig: { NetworkMode: 'none' },
    });
    stranger = other.id;
    await other.start();
  }, 180_000);
  afterAll(async () => {
    for (const run of Object.values(runs)) await removeRun(run);
    rmSync(folder, { recursive: true, force: true });
  });

  async function hold(...args: string[]): Promise<ChildProcess> {
    const child = spawn(process.execPath, [join(folder, 'lib/environment/docker/holder.testing.js'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    const over = once(child, 'exit');
    child.kill('SIGKILL');
    await over;
  }

  const membersOf = async (run: string): Promise<FleetMember[]> =>
    (await fleet.list()).filter((member) => member.run === run);

  it('are orphans and go, while those of others, of the living and detached ones stay', async () => {
    const child = await hold(runs.killed, '2');
    expect((await membersOf(runs.killed)).map(({ orphan }) => orphan)).toEqual([false, false]);
    await kill(child);
    await kill(await hold(runs.detached, '1', 'detach'));
    const { driver } = await driverOf(1, {}, { runId: runs.mine });
    const mine = await driver.start(0, 'mine');

    const orphans = (await fleet.list()).filter(({ orphan, run }) => orphan && Object.values(runs).includes(run));
    expect(orphans.map(({ run }) => run)).toEqual([runs.killed, runs.killed]);
    for (const orphan of orphans) await fleet.remove(orphan);
    expect(await containersOf(runs.killed)).toEqual([stranger]);
    expect((await docker!.getContainer(stranger).inspect()).State.Running).toBe(true);
    expect(await membersOf(runs.detached)).toMatchObject([{ detached: true, orphan: false }]);
    expect((await mine.guest.screenshot()).width).toBe(1280);

    // What is removed already is no error, also by a record that was handed on.
    for (const orphan of orphans) await fleet.remove({ ...orphan });
    await mine.close();
    expect(await membersOf(runs.mine)).toEqual([]);
  });
});
