import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../../lib/errors.ts';
import { makeFolderSync } from '../../../lib/stream/files.ts';
import { sha256Of } from '../base.ts';
import { SUITES } from '../evaluations.ts';
import { isTrained, runJobs } from '../job.ts';
import { makespan } from '../makespan.ts';
import type { Base } from '../plan.ts';
import { publishedPath, publishRuns, takePublished } from '../published.ts';
import { type Job, playJobs, spoken } from '../queue.ts';
import { writeSection } from '../report.ts';
import { lineOf, runLines, Stopped, stopSignal } from '../shell.ts';
import { COMPARED } from './arms.ts';
import type { ArpoRun } from './details.ts';
import {
  type ArpoSettings,
  arpoSettingsFrom,
  comparedMeasures,
  pieceOf,
  selectionMeasures,
  sharedJob,
} from './pieces.ts';
import { arpoSection, successIn } from './report.ts';
import { type TaskFiles, writeTaskFiles } from './tasks.ts';

/**
 * `make arpo`: base, reject sampling, DPO, KTO, GRPO and ARPO from as many rollouts of the same 32 tasks, under both
 * protocols, in and out of domain; the replay curve, the self-correction case, and what selecting tasks does. `--publish`
 * also writes docs/results.md and the runs beside it; `--published` goes on from the runs that lie there. Records on stdout,
 * the rest on stderr.
 */
async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { publish: flag, published: flag } });
  const settings = arpoSettingsFrom(process.env);
  const stop = stopSignal();
  const began = Date.now();
  makeFolderSync(settings.dir);
  const path = process.env.BASE || BASE;
  const base = { path, sha256: sha256Of(path) };
  const selection = await selected(settings, base, stop);
  const tasks = await writeTaskFiles(settings.dir, selection, settings.inDomain);
  if (values.published) await takePublished(PUBLISHED, settings.dir, say);
  const jobs = jobsOf(settings, base, tasks);
  say(
    `${settings.seeds} seeds, on two cores alone about ${spoken(makespan(jobs, 1))} in all; Ctrl-C and the same command again goes on`,
  );
  await playJobs(jobs, say, { stop });
  const runs = runsOf(settings);
  tell(runs);
  const section = arpoSection(settings, runs, tasks.selected.count);
  await writeSection(settings.dir, section, values.publish);
  if (values.publish) await publishRuns(PUBLISHED, runs, []);
  process.stderr.write(`\n${section.text}\n`);
  const wall_s = Math.round((Date.now() - began) / 1000);
  process.stdout.write(
    `${JSON.stringify({ type: 'summary', v: 1, command: 'arpo', seeds: settings.seeds, wall_s })}\n`,
  );
}

/** The demo's: it fails often, on nearly all tasks, as ARPO's base does; nothing here needs more. */
const BASE = 'fixtures/policies/base.onnx';

const PUBLISHED = publishedPath('arpo');

/** ARPO's choice: tasks that so many rollouts of the base policy solve at least once, infeasible ones aside. */
async function selected({ dir, selectRollouts }: ArpoSettings, base: Base, stop: AbortSignal): Promise<string> {
  const name = `${base.sha256.slice(0, 8)}-${selectRollouts}.ndjson`;
  const [baseline, selection] = [join(dir, `baseline-${name}`), join(dir, `selected-${name}`)];
  const rollout = [
    '--tasks',
    SUITES.train,
    '--env',
    'embedded:16',
    '--policy',
    `onnx:${base.path}`,
    '-n',
    selectRollouts,
  ];
  const how = ['--max-steps', 15, '--seed', 0, '--blobs', join(dir, 'baseline-blobs'), '-o', baseline, '--quiet'];
  if (!existsSync(baseline)) {
    say(`${selectRollouts} rollouts of the base policy on every training task …`);
    await runLines(
      [lineOf('bin/dart-rollout', rollout, how), lineOf('rm', '-rf', join(dir, 'baseline-blobs'))],
      dir,
      stop,
    );
  }
  const select = [
    '--tasks',
    SUITES.train,
    '--exclude-infeasible',
    '--rollouts',
    selectRollouts,
    '-o',
    selection,
    '--quiet',
    baseline,
  ];
  await runLines([lineOf('bin/dart-curate', 'select-tasks', select)], dir, stop);
  return selection;
}

function jobsOf(settings: ArpoSettings, base: Base, tasks: TaskFiles): Job[] {
  const seeds = Array.from({ length: settings.seeds }, (_, index) => index + 1);
  return seeds.flatMap((seed) => {
    const pieces = settings.arms.map((arm) => ({ arm, piece: pieceOf(settings, arm, seed, base, tasks, say) }));
    const runs = pieces.flatMap(({ arm, piece }) => {
      const compared = COMPARED.includes(arm);
      return runJobs(
        piece,
        compared ? comparedMeasures(settings, tasks, piece.dir) : selectionMeasures(settings, tasks),
      );
    });
    // Published runs come without the rollouts that they learned from, and need them no more.
    const learns = pieces.some(({ arm, piece }) => arm.kind === 'offline' && !isTrained(piece));
    return learns ? [sharedJob(settings, seed, base, tasks), ...runs] : runs;
  });
}

function runsOf({ dir, seeds, arms }: ArpoSettings): ArpoRun[] {
  const runs: ArpoRun[] = [];
  for (const { name } of arms) {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const path = join(dir, name, String(seed), 'run.json');
      if (existsSync(path)) runs.push(JSON.parse(readFileSync(path, 'utf8')));
    }
  }
  return runs;
}

function tell(runs: readonly ArpoRun[]): void {
  for (const run of runs) {
    for (const measure of Object.keys(run.measures)) {
      const name = measure.split('/')[1]!;
      const metric = { name: `arpo/${run.name}/${name}`, seed: run.seed, value: successIn(run, name) };
      process.stdout.write(`${JSON.stringify({ type: 'metric', v: 1, ...metric })}\n`);
    }
  }
}

function say(line: string): void {
  process.stderr.write(`arpo: ${line}\n`);
}

main().catch((error: unknown) => {
  say(error instanceof Stopped ? 'stopped; the same command goes on from here' : messageOf(error));
  process.exitCode = error instanceof Stopped ? error.code : 2;
});
