import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readBase } from '../base.ts';
import { SUITES } from '../evaluations.ts';
import { finishedRuns, idleLine, isTrained, type RunRecord, runJobs } from '../job.ts';
import { lockRuns } from '../lock.ts';
import { makespan } from '../makespan.ts';
import type { Base } from '../plan.ts';
import { type Call, playProgram } from '../play.ts';
import { ARPO } from '../programs.ts';
import { publishedPath, publishRuns, takePublished } from '../published.ts';
import { type Job, playJobs, spoken } from '../queue.ts';
import { writeSection } from '../report.ts';
import { lineOf, runLines, wholeLine } from '../shell.ts';
import type { ArpoRun } from './details.ts';
import { type ArpoSettings, arpoSettingsFrom, sharedJob } from './pieces.ts';
import { arpoSection, successIn } from './report.ts';
import { type ArpoPiece, isArpoRun, piecesOf } from './runs.ts';
import { type TaskFiles, writeTaskFiles } from './tasks.ts';

/**
 * `make arpo`: base, reject sampling, DPO, KTO, GRPO and ARPO from as many rollouts of the same 32 tasks, under both
 * protocols, in and out of domain; the replay curve, the self-correction case, and what selecting tasks does. Records on
 * stdout, the rest on stderr.
 */
async function main({ request, env, stop, say }: Call<keyof typeof ARPO.flags>): Promise<void> {
  const settings = arpoSettingsFrom(env);
  const began = Date.now();
  const publish = request.flags.has('publish');
  const base = readBase(settings.base);
  lockRuns(settings.dir, 'make arpo');
  const selection = await selected(settings, base, { stop, say });
  const tasks = await writeTaskFiles(settings.dir, selection, settings.inDomain);
  const fits = (run: RunRecord) => isArpoRun(settings, { base, tasks }, run);
  if (request.flags.has('published')) await takePublished(PUBLISHED, settings.dir, fits, say);
  const pieces = piecesOf(settings, { base, tasks }, say);
  const jobs = jobsOf(settings, base, tasks, pieces);
  say(
    `${settings.seeds} seeds, on two cores alone about ${spoken(makespan(jobs, 1))} in all; Ctrl-C and the same command again goes on`,
  );
  await playJobs(jobs, say, { stop });
  const runs = finishedRuns(pieces, say) as ArpoRun[];
  for (const { name, seed, details } of runs) if (details.updates === 0) say(idleLine(name, seed));
  tell(runs);
  const section = arpoSection(settings, runs, tasks.selected.count);
  await writeSection(settings.dir, section, publish);
  if (publish) await publishRuns(PUBLISHED, runs, { stays: fits, points: [] });
  process.stderr.write(`\n${section.text}\n`);
  const wall_s = Math.round((Date.now() - began) / 1000);
  process.stdout.write(
    `${JSON.stringify({ type: 'summary', v: 1, command: 'arpo', seeds: settings.seeds, wall_s })}\n`,
  );
}

const PUBLISHED = publishedPath('arpo');

/** ARPO's choice: tasks that so many rollouts of the base policy solve at least once, infeasible ones aside. */
async function selected(
  { dir, selectRollouts }: ArpoSettings,
  base: Base,
  { stop, say }: Pick<Call<never>, 'stop' | 'say'>,
): Promise<string> {
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
  const how = ['--max-steps', 15, '--seed', 0, '--blobs', join(dir, 'baseline-blobs'), '--quiet'];
  if (!existsSync(baseline)) {
    say(`${selectRollouts} rollouts of the base policy on every training task …`);
    await runLines(
      [
        wholeLine(baseline, (output) => lineOf('bin/dart-rollout', rollout, how, '-o', output)),
        lineOf('rm', '-rf', join(dir, 'baseline-blobs')),
      ],
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

function jobsOf(settings: ArpoSettings, base: Base, tasks: TaskFiles, pieces: readonly ArpoPiece[]): Job[] {
  const seeds = new Set(pieces.map(({ piece }) => piece.seed));
  return [...seeds].flatMap((seed) => {
    const own = pieces.filter(({ piece }) => piece.seed === seed);
    const runs = own.flatMap(({ piece, measures }) => runJobs(piece, measures));
    // Published runs come without the rollouts that they learned from, and need them no more.
    const learns = own.some(({ arm, piece }) => arm.kind === 'offline' && !isTrained(piece));
    return learns ? [sharedJob(settings, seed, base, tasks), ...runs] : runs;
  });
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

playProgram(ARPO, main);
