import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workloadTasks } from '../../../lib/rollout/simulate/workload.ts';
import { readRecords } from '../../../lib/stream/reader.ts';
import type { Trajectory } from '../../../lib/stream/records.ts';
import { desktopsOf } from '../../bench/system/cluster.ts';
import { lineOf, runLines } from '../shell.ts';
import { batchSeconds, middleRate, pointOf, type ScalingPoint, type Span } from './figure.ts';
import { arpoWorkload, GROUP } from './workload.ts';

/**
 * The same with `dart-rollout` and embedded desktops whose latency model takes the workload's times, `scale` times
 * faster: so many batches coupled, then as many rollouts decoupled.
 */
export async function realPoint(
  desktops: number,
  { scale, batches, stop }: { scale: number; batches: number; stop?: AbortSignal },
): Promise<ScalingPoint> {
  const folder = await mkdtemp(join(tmpdir(), 'dart-scaling-'));
  try {
    const workload = arpoWorkload(desktops);
    const [file, tasks] = [join(folder, 'workload.json'), join(folder, 'tasks.ndjson')];
    await writeFile(file, JSON.stringify(workload));
    const all = workloadTasks({
      tasks: { value: (batches * desktops) / GROUP, source: 'as many as the batches need' },
    });
    await writeFile(tasks, all.map((task) => `${JSON.stringify(task)}\n`).join(''));
    const spans = async (mode: 'batch' | 'async') => {
      const output = join(folder, `${mode}.ndjson`);
      const what = [
        '--tasks',
        tasks,
        '--env',
        desktopsOf(workload, scale),
        '--policy',
        `workload:${file},scale=${scale}`,
      ];
      const how = ['--workers', 1, '-n', GROUP, '--mode', mode, '--batch-groups', desktops / GROUP, '--sync', 'off'];
      const rest = ['--max-steps', workload.max_steps.value, '--blobs', join(folder, 'blobs'), '-o', output, '--quiet'];
      await runLines([lineOf('bin/dart-rollout', what, how, rest)], `${desktops} desktops`, stop);
      return spansOf(output);
    };
    const batch = batchSeconds(await spans('batch'), batches) * scale;
    return pointOf(desktops, batch, middleRate(await spans('async')) / scale);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function spansOf(path: string): Promise<Span[]> {
  const spans: Span[] = [];
  for await (const { record } of readRecords(createReadStream(path), { name: path })) {
    if (record.type !== 'trajectory') continue;
    const { started_at, finished_at } = record as Trajectory;
    spans.push({ began: Date.parse(started_at), ended: Date.parse(finished_at) });
  }
  return spans;
}
