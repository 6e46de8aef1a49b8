import { createReadStream, existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageRoot } from '../../lib/cli/paths.ts';
import { makeFolderSync, writeWhole } from '../../lib/stream/files.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import type { RunRecord } from './job.ts';
import { counted } from './report.ts';

/**
 * Where the runs behind a table of docs/results.md lie: one record a run, so that others can compute their own figures.
 * @param table `ablation` or `arpo`
 */
export function publishedPath(table: string): string {
  return join(packageRoot(), 'docs', 'results', `${table}.ndjson`);
}

/** What is kept of published runs, and of the new ones. */
export interface Publishing {
  /**
   * True for a run of the same settings: a comparison of hours is made in parts, so that published runs of other arms and
   * seeds stay. Those of other settings go, since the table has no row for them.
   */
  stays: (run: RunRecord) => boolean;
  /** Cuts of which only the means are kept. */
  points: readonly string[];
}

/** Writes them. */
export async function publishRuns(
  path: string,
  runs: readonly RunRecord[],
  { stays, points }: Publishing,
): Promise<void> {
  const made = new Set(runs.map(keyOf));
  const others = (await publishedRuns(path)).filter((run) => !made.has(keyOf(run)) && stays(run));
  const brief = (run: RunRecord) => {
    const measures = Object.entries(run.measures).map(([name, measure]) => {
      return [name, points.includes(name.split('/')[0]!) ? { ...measure, tasks: {} } : measure];
    });
    return { type: 'run', v: 1, ...run, measures: Object.fromEntries(measures) };
  };
  const lines = [...others, ...runs].map((run) => `${JSON.stringify(brief(run))}\n`);
  await writeWhole(path, lines.join(''));
}

const keyOf = ({ name, seed }: RunRecord) => `${name}/${seed}`;

/** The runs that are published in a file; none where there is no file yet. */
export async function publishedRuns(path: string): Promise<RunRecord[]> {
  const runs: RunRecord[] = [];
  if (!existsSync(path)) return runs;
  for await (const { record } of readRecords(createReadStream(path), { name: relative(packageRoot(), path) })) {
    if (record.type !== 'run') continue;
    const { type, v, ...run } = record as unknown as RunRecord & { type: string; v: number };
    runs.push(run);
  }
  return runs;
}

/**
 * Lays published runs into a folder of runs, where there is none of the same arm and seed, as if they had been made there.
 * Those that these settings would not make stay out: the queue would refuse them, now and ever after.
 */
export async function takePublished(
  path: string,
  dir: string,
  fits: (run: RunRecord) => boolean,
  say: (line: string) => void,
): Promise<void> {
  const name = relative(packageRoot(), path);
  if (!existsSync(path)) return say(`no runs are published in ${name} yet`);
  const runs = await publishedRuns(path);
  const fitting = runs.filter(fits);
  let taken = 0;
  for (const run of fitting) {
    const folder = join(dir, run.name, String(run.seed));
    const file = join(folder, 'run.json');
    if (existsSync(file)) continue;
    makeFolderSync(folder);
    await writeWhole(file, `${JSON.stringify(run, null, 1)}\n`);
    taken += 1;
  }
  const others = runs.length - fitting.length;
  const leftOut = others > 0 ? `; ${others} left out: made with other settings or by other options` : '';
  say(`${counted(taken, 'run')} taken from ${name}${leftOut}`);
}
