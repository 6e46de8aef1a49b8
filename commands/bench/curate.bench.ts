import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../lib/cli/paths.ts';
import type { BenchMetric } from '../../lib/stream/bench.ts';
import { measure, type Run } from './process.ts';
import { SHAPES, writeTrajectories } from './trajectories.ts';

/** Size of a file; `DART_BENCH_MB=2000 make bench ARGS=curate` for the long run. */
const MEGABYTES = Number(process.env.DART_BENCH_MB ?? 256);
/** Miller reads all of its input before it writes, and takes 26 bytes of memory a byte. */
const MILLER_MEGABYTES = 64;

/**
 * `dart-curate` as a process on files of trajectories, beside what jq and Miller take to read and write the same file: MB
 * of input a second, and the peak of its memory.
 */
export async function bench(): Promise<BenchMetric[]> {
  const folder = await mkdtemp(join(tmpdir(), 'dart-bench-'));
  const metrics: BenchMetric[] = [];
  try {
    for (const shape of SHAPES) {
      const path = join(folder, 'trajectories.ndjson');
      const bytes = await writeTrajectories(path, shape, MEGABYTES * 1e6);
      const curate = (await measure(join(packageRoot(), 'bin/dart-curate'), [path, '--quiet']))!;
      const jq = await other('jq', 'jq', ['-c', '.', path]);
      const part = MEGABYTES > MILLER_MEGABYTES ? join(folder, 'part.ndjson') : path;
      const partBytes = part === path ? bytes : await writeTrajectories(part, shape, MILLER_MEGABYTES * 1e6);
      const miller = await other('mlr', 'miller', ['--json', 'cat', part]);
      metrics.push(...metricsOf(`curate/${shape.name}`, curate, bytes, jq));
      if (jq) metrics.push(...metricsOf(`jq -c ./${shape.name}`, jq, bytes, null));
      if (miller) metrics.push(...metricsOf(`mlr --json cat/${shape.name}`, miller, partBytes, null));
    }
    return metrics;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function metricsOf(name: string, run: Run, bytes: number, jq: Run | null): BenchMetric[] {
  const speed: BenchMetric = { name, value: bytes / run.seconds / 1e6, unit: 'MB/s' };
  if (jq) Object.assign(speed, { against: 'jq -c .', ratio: jq.seconds / run.seconds });
  const size = Math.round(bytes / 1e6);
  if (run.peak === null) return [speed];
  return [speed, { name: `${name}/peak memory on ${size} MB`, value: run.peak / 1e6, unit: 'MB' }];
}

/** As `measure`, for a program that may have to be installed first; says so where it cannot be. */
async function other(command: string, debianPackage: string, args: readonly string[]): Promise<Run | null> {
  const run = await measure(command, args);
  if (run !== null) return run;
  if (process.getuid?.() === 0) spawnSync('apt-get', ['install', '-y', '-qq', debianPackage], { stdio: 'ignore' });
  const again = await measure(command, args);
  if (again === null) process.stderr.write(`bench: ${command} is not here, so nothing is compared with it\n`);
  return again;
}
