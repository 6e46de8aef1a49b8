import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { orSkip } from '../../stream/shared.testing.ts';
import type { OpenOptions } from '../kind.ts';
import { dockerAt } from './client.ts';
import { type DockerDriver, openDocker } from './driver.ts';
import { LABELS } from './labels.ts';
import { dockerValues } from './values.testing.ts';

const IMAGE = 'dart-desktop:slim';

async function findDocker(): Promise<Docker | null> {
  const client = dockerAt();
  const problem = await client
    .getImage(IMAGE)
    .inspect()
    .then(
      () => null,
      (error: Error) => error.message.trim(),
    );
  return orSkip('docker', problem === null ? client : null, `${problem} (dart-env build-image builds ${IMAGE})`);
}

/** Docker with our slim image, or null where it is not there: use with `describe.skipIf(!docker)`. */
export const docker: Docker | null = await findDocker();

let runs = 0;

/** A name for the containers of one test. */
export function newRun(): string {
  return `test-${process.pid}-${++runs}`;
}

/** A driver of a test's own, with its run. */
export async function driverOf(
  count: number,
  given: Record<string, string | number | boolean> = {},
  options: Partial<OpenOptions> = {},
): Promise<{ driver: DockerDriver; run: string }> {
  const run = options.runId ?? newRun();
  return { driver: await openDocker(count, dockerValues(given), { ...options, runId: run }), run };
}

/** Ids of the containers of a run, also of those that have ended. */
export async function containersOf(run: string): Promise<string[]> {
  const filters = JSON.stringify({ label: [`${LABELS.run}=${run}`] });
  const found = await docker!.listContainers({ all: true, filters });
  return found.map(({ Id }) => Id);
}

/** Removes whatever a test has left. */
export async function removeRun(run: string): Promise<void> {
  for (const id of await containersOf(run)) await docker!.getContainer(id).remove({ force: true });
}

/** Waits until it holds; fails after a minute. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = performance.now() + 60_000; !(await holds()); await sleep(50)) {
    if (performance.now() > end) throw new Error('it did not come about within a minute');
  }
}
