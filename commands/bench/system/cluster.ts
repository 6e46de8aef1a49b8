import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../../lib/cli/paths.ts';
import { DartError } from '../../../lib/errors.ts';
import type { Distribution } from '../../../lib/rollout/simulate/distribution.ts';
import { type Workload, workloadTasks } from '../../../lib/rollout/simulate/workload.ts';
import type { UsageReading } from '../../../lib/rollout/usage.ts';
import { followFile } from '../../../lib/stream/follow.ts';
import { readRecords } from '../../../lib/stream/reader.ts';

export interface ClusterOptions {
  workload: Workload;
  file: string;
  /** How many times faster than the workload. */
  scale: number;
  coupled: boolean;
}

export interface ClusterRun {
  readings: UsageReading[];
  /** Of each version: by how many versions its groups were behind. */
  updates: { version: number; staleness: number[] }[];
}

const RUN_ID = 'system';

/**
 * Runs dart-rollout, dart-curate and a trainer of the stated latencies as processes, on one store, until `enough` says
 * so of the readings of what is used. Files between them, so that nobody waits for a reader.
 */
export async function runCluster(
  options: ClusterOptions,
  enough: (readings: UsageReading[]) => boolean,
): Promise<ClusterRun> {
  const folder = await mkdtemp(join(tmpdir(), 'dart-system-'));
  const path = (name: string) => join(folder, name);
  const children: ChildProcess[] = [];
  const start = (program: string, args: readonly string[], output: string) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: packageRoot(),
      stdio: ['ignore', openSync(path(output), 'w'), 'inherit'],
    });
    children.push(child);
    return child;
  };
  try {
    const { workload, file, scale } = options;
    const store = `sqlite:${path('dart.db')}`;
    writeFileSync(
      path('tasks.ndjson'),
      workloadTasks(workload)
        .map((task) => `${JSON.stringify(task)}\n`)
        .join(''),
    );
    for (const name of ['rollouts', 'samples']) writeFileSync(path(`${name}.ndjson`), '');
    const learner = fileURLToPath(import.meta.resolve('./learner.js'));
    start(learner, [path('samples.ndjson'), store, RUN_ID, file, String(scale)], 'updates.ndjson');
    const curate = [path('rollouts.ndjson'), '--follow', '--store', store, '--no-pool', '--quiet'];
    start(join(packageRoot(), 'bin/dart-curate'), curate, 'samples.ndjson');
    const args = rolloutArgs(options, { tasks: path('tasks.ndjson'), store, blobs: path('blobs') });
    const rollout = start(join(packageRoot(), 'bin/dart-rollout'), args, 'rollouts.ndjson');
    const readings = await readUsage(path('rollouts.ndjson'), rollout, enough);
    rollout.kill('SIGINT');
    await ended(rollout);
    return { readings, updates: await readUpdates(path('updates.ndjson')) };
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(children.map(ended));
    await rm(folder, { recursive: true, force: true });
  }
}

function rolloutArgs(
  { workload, file, scale, coupled }: ClusterOptions,
  { tasks, store, blobs }: { tasks: string; store: string; blobs: string },
): string[] {
  return [
    ...['--tasks', tasks, '--env', desktopsOf(workload, scale), '--policy', `workload:${file},scale=${scale}`],
    ...['--workers', String(workload.workers.value), '-n', String(workload.rollouts.value), '--follow'],
    ...(coupled ? ['--mode', 'batch', '--sync', 'global'] : ['--mode', 'async', '--sync', 'one']),
    ...['--batch-groups', String(workload.batch_groups.value), '--version-wait', '600', '--sync-interval', '0.05'],
    ...['--max-steps', String(workload.max_steps.value), '--no-dynamic-rollouts', '--no-dynamic-length'],
    ...['--usage', '0.1', '--store', store, '--run-id', RUN_ID, '--blobs', blobs, '--grace', '0', '--quiet'],
  ];
}

/** The embedded desktops of `--env` with the workload's latencies, as their latency model takes them. */
export function desktopsOf({ latency, desktops, name }: Workload, scale: number): string {
  const times = [latency.step, latency.reset, latency.evaluation].map(({ distribution }) =>
    middleOf(distribution, name),
  );
  const jitter = times[0]!.jitter;
  if (times.some((time) => Math.abs(time.jitter - jitter) > 1e-9))
    throw new DartError('step, reset and evaluation do not vary by the same share', { where: name });
  const [step, reset, evaluation] = times.map(({ mean }) => Number(((1000 * mean) / scale).toFixed(3)));
  return `embedded:${desktops.value},latency=${step},reset=${reset},evaluate=${evaluation},jitter=${jitter}`;
}

function middleOf(distribution: Distribution, where: string): { mean: number; jitter: number } {
  if (distribution.shape !== 'uniform') throw new DartError('the latencies of desktops must be uniform', { where });
  const mean = (distribution.min + distribution.max) / 2;
  return { mean, jitter: (distribution.max - mean) / mean };
}

async function readUsage(
  file: string,
  rollout: ChildProcess,
  enough: (readings: UsageReading[]) => boolean,
): Promise<UsageReading[]> {
  const stop = new AbortController();
  rollout.once('exit', () => stop.abort());
  const readings: UsageReading[] = [];
  for await (const { record } of readRecords(followFile(file, stop.signal, { pollMs: 50 }), { name: file })) {
    if (record.type !== 'event' || record.event !== 'usage') continue;
    readings.push(record as unknown as UsageReading);
    if (enough(readings)) return readings;
  }
  throw new DartError('dart-rollout ended before enough was measured', { where: 'bench-system' });
}

async function readUpdates(file: string): Promise<ClusterRun['updates']> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
