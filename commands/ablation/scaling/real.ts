import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workloadTasks } from '../../../lib/rollout/simulate/workload.ts';
import { writeWhole } from '../../../lib/stream/files.ts';
import { readRecords } from '../../../lib/stream/reader.ts';
import type { Trajectory } from '../../../lib/stream/records.ts';
import { desktopsOf } from '../../bench/system/cluster.ts';
import { lineOf, runLines } from '../shell.ts';
import {
  type BusyStretch,
  batchSeconds,
  busyStretch,
  isBatchSound,
  isBusySound,
  type Measured,
  type SimulatedPoint,
  type Span,
} from './figure.ts';
import type { ScalingSettings } from './settings.ts';
import { arpoWorkload, GROUP } from './workload.ts';

export type Mode = 'batch' | 'async';

/** One measurement: the rollouts of so many desktops in one mode. */
export interface Measurement {
  desktops: number;
  mode: Mode;
  /** Rollouts that each desktop has. */
  rounds: number;
  scale: number;
}

/** Those of so many desktops: the batches, then decoupled one round more, since its last is not all work. */
export function measurementsOf(desktops: number, { scale, batches }: ScalingSettings): [Measurement, Measurement] {
  return [
    { desktops, mode: 'batch', rounds: batches, scale },
    { desktops, mode: 'async', rounds: batches + 1, scale },
  ];
}

/** The figures of so many desktops, from what is measured or has been. */
export async function measuredOf(
  desktops: number,
  settings: ScalingSettings,
  spansOf: (measurement: Measurement) => Promise<readonly Span[]>,
): Promise<Measured> {
  const [coupled, free] = measurementsOf(desktops, settings);
  return { batch: batchOf(coupled, await spansOf(coupled)), busy: busyOf(free, await spansOf(free)) };
}

/** In seconds of the workload. */
function batchOf({ rounds, scale }: Measurement, spans: readonly Span[]): number {
  return batchSeconds(spans, rounds) * scale;
}

function busyOf({ scale }: Measurement, spans: readonly Span[]): BusyStretch {
  const { seconds, rollouts } = busyStretch(spans);
  return { seconds: seconds * scale, rollouts };
}

function isSound(measurement: Measurement, spans: readonly Span[], simulated: SimulatedPoint): boolean {
  return measurement.mode === 'batch'
    ? isBatchSound(batchOf(measurement, spans), simulated)
    : isBusySound(busyOf(measurement, spans), simulated);
}

/**
 * Where a measurement is kept. Its name says of what it is; the mark, by which lines and which workload it was made: what
 * is measured in another way goes into another file.
 */
export function measurementFile(dir: string, measurement: Measurement): string {
  const { desktops, mode, rounds } = measurement;
  const mark = createHash('sha256').update(madeBy(measurement)).digest('hex').slice(0, 8);
  return join(dir, `real-${desktops}-${mode}-${rounds}-${mark}.json`);
}

function madeBy(measurement: Measurement): string {
  const { line, workload, tasks } = recipeOf(measurement, 'FOLDER');
  return [line, workload, tasks].join('\n');
}

/** What `dart-rollout` is given: embedded desktops whose latency model takes the workload's times, `scale` times faster. */
function recipeOf({ desktops, mode, rounds, scale }: Measurement, folder: string) {
  const workload = arpoWorkload(desktops);
  const file = (name: string) => join(folder, name);
  const tasks = workloadTasks({ tasks: { value: (rounds * desktops) / GROUP, source: 'as many as the rounds need' } });
  const embedded = [
    '--env',
    desktopsOf(workload, scale),
    '--policy',
    `workload:${file('workload.json')},scale=${scale}`,
  ];
  const how = ['--workers', 1, '-n', GROUP, '--mode', mode, '--batch-groups', desktops / GROUP, '--sync', 'off'];
  const output = ['--blobs', file('blobs'), '-o', file('rollouts.ndjson'), '--quiet'];
  const limit = ['--max-steps', workload.max_steps.value];
  return {
    line: lineOf('bin/dart-rollout', '--tasks', file('tasks.ndjson'), embedded, how, limit, output),
    workload: JSON.stringify(workload),
    tasks: tasks.map((task) => `${JSON.stringify(task)}\n`).join(''),
  };
}

/** The spans of a measurement that are kept; null where there are none, or only those of a busy machine. */
export function keptSpans(dir: string, measurement: Measurement, simulated: SimulatedPoint): readonly Span[] | null {
  const path = measurementFile(dir, measurement);
  if (!existsSync(path)) return null;
  const { spans } = JSON.parse(readFileSync(path, 'utf8'));
  return isSound(measurement, spans, simulated) ? spans : null;
}

/** The spans of a measurement: those that are kept, or newly measured, and kept unless the machine was busy. */
export async function spansOf(
  dir: string,
  measurement: Measurement,
  simulated: SimulatedPoint,
  measured: () => Promise<readonly Span[]>,
): Promise<readonly Span[]> {
  const kept = keptSpans(dir, measurement, simulated);
  if (kept !== null) return kept;
  const path = measurementFile(dir, measurement);
  rmSync(path, { force: true });
  const spans = await measured();
  if (isSound(measurement, spans, simulated))
    await writeWhole(path, `${JSON.stringify({ made: madeBy(measurement), ...measurement, spans })}\n`);
  return spans;
}

/** Measures. */
export async function measure(measurement: Measurement, stop?: AbortSignal): Promise<Span[]> {
  const folder = await mkdtemp(join(tmpdir(), 'dart-scaling-'));
  try {
    const { line, workload, tasks } = recipeOf(measurement, folder);
    await writeFile(join(folder, 'workload.json'), workload);
    await writeFile(join(folder, 'tasks.ndjson'), tasks);
    await runLines([line], `${measurement.desktops} desktops`, stop);
    return await spansIn(join(folder, 'rollouts.ndjson'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function spansIn(path: string): Promise<Span[]> {
  const spans: Span[] = [];
  for await (const { record } of readRecords(createReadStream(path), { name: path })) {
    if (record.type !== 'trajectory') continue;
    const { started_at, finished_at } = record as Trajectory;
    spans.push({ began: Date.parse(started_at), ended: Date.parse(finished_at) });
  }
  return spans;
}
