import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchMetric } from '../../lib/stream/bench.ts';

const SECONDS = 20;

/** The project's folder, from `dist/commands/bench/` as from `commands/bench/`. */
function root(): string {
  const here = fileURLToPath(new URL('.', import.meta.url));
  return here.includes(`${'/dist/'}`) ? join(here, '../../..') : join(here, '../..');
}

/** Trajectories a minute of the real commands: rollouts alone, and with curation and training behind them. */
export async function bench(): Promise<BenchMetric[]> {
  const folder = await mkdtemp(join(tmpdir(), 'dart-bench-'));
  try {
    const alone = await rate(`${rollout(folder)} > ${join(folder, 'alone.ndjson')}`, join(folder, 'alone.ndjson'));
    const policy = join(folder, 'policy');
    const store = `--store sqlite:${join(folder, 'dart.db')} --blobs ${join(folder, 'blobs')}`;
    const tee = join(folder, 'whole.ndjson');
    const whole = await rate(
      `${rollout(folder)} --store sqlite:${join(folder, 'dart.db')} | tee ${tee} | bin/dart-curate - --follow ${store} --quiet | bin/dart-train - --follow --policy onnx:fixtures/policies/base.onnx --publish ${policy} --lr 1e-4 ${store} --quiet > ${join(folder, 'train.ndjson')}`,
      tee,
    );
    return [
      { name: 'pipeline/rollout alone', value: alone, unit: 'trajectories/min' },
      {
        name: 'pipeline/rollout | curate | train',
        value: whole,
        unit: 'trajectories/min',
        against: 'rollout alone',
        ratio: whole / alone,
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function rollout(folder: string): string {
  return `timeout -s INT ${SECONDS} bin/dart-rollout --tasks fixtures/tasks/embedded --env embedded:32 --policy onnx:fixtures/policies/base.onnx --follow --max-steps 12 --blobs ${join(folder, 'blobs')} --quiet`;
}

/** Runs the line for its time, then counts the trajectories that it wrote by their own clock. */
async function rate(line: string, output: string): Promise<number> {
  await new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', line], { cwd: root(), stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const { createReadStream } = await import('node:fs');
  const { readRecords } = await import('../../lib/stream/reader.ts');
  const ends: number[] = [];
  for await (const { record } of readRecords(createReadStream(output), { name: output }))
    if (record.type === 'trajectory') ends.push(Date.parse(String(record.finished_at)));
  const first = Math.min(...ends);
  return (60_000 * (ends.length - 1)) / Math.max(1, Math.max(...ends) - first);
}
