import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printTable } from '../../lib/cli/table.ts';
import { messageOf } from '../../lib/errors.ts';
import { makeFolderSync } from '../../lib/stream/files.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import type { Trajectory } from '../../lib/stream/records.ts';
import { makeBase, sha256Of, TAUGHT_POLICY } from './base.ts';
import { type Conditions, ConditionsCount, conditionsTable } from './conditions.ts';
import { evaluationLine, MAX_STEPS, readEvaluation, SUITES } from './evaluations.ts';
import { EVALUATION, type Measure, type RunRecord, runJobs, trainingPiece } from './job.ts';
import { curvePoints, type LadderRuns, ladderSection, rowsOf } from './ladder_report.ts';
import { makespan } from './makespan.ts';
import { dirOf, ROLLOUTS_CUT, TIME_CUT, trainingOf } from './plan.ts';
import { publishedPath, publishRuns, takePublished } from './published.ts';
import { type Job, playJobs, spoken } from './queue.ts';
import { markdownTable, writeSection } from './report.ts';
import { type Settings, settingsFrom, wholeOf } from './settings.ts';
import { runLines, Stopped, stopSignal } from './shell.ts';

/**
 * `make ablation`: DART's ladder on the embedded suite, each arm with the same seeds. With `ARGS=conditions` only what the
 * suite offers to each idea; with `ARGS=base` the base policy is made anew. `--publish` also writes the tables into
 * docs/results.md and the runs beside them; `--published` goes on from the runs that lie there. Records on stdout, the
 * rest on stderr.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      publish: { type: 'boolean', default: false },
      published: { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
    },
  });
  const settings = settingsFrom(process.env);
  const stop = stopSignal();
  const began = Date.now();
  makeFolderSync(settings.dir);
  if (positionals[0] === 'base') {
    say(`the base policy is ${await makeBase(say, stop)}; BASE=… begins with it`);
    return 0;
  }
  const base = process.env.BASE || TAUGHT_POLICY;
  const conditions = await conditionsOf(settings, base, stop);
  await tellConditions(settings, base, conditions, values.publish);
  if (positionals[0] === 'conditions') return 0;

  if (values.published) await takePublished(publishedPath('ablation'), settings.dir, say);
  const jobs = jobsOf(settings, base);
  say(
    `${settings.arms.length} arms × ${settings.seeds} seeds, on two cores alone about ${spoken(makespan(jobs, settings.lanes))} in all; Ctrl-C and the same command again goes on`,
  );
  if (!values.report) await playJobs(jobs, say, { stop, lanes: settings.lanes });
  const all = await runsOf(settings, base, conditions);
  await tellLadder(all, values.publish);
  if (values.publish) await publishRuns(publishedPath('ablation'), all.runs, pointsBefore(settings));
  summary('ablation', { wall_s: Math.round((Date.now() - began) / 1000), seeds: settings.seeds });
  return 0;
}

/** Rollouts a task for the conditions: 32 tell a task at zero from one at a tenth. */
const CONDITION_REPEATS = 32;

async function conditionsOf(settings: Settings, base: string, stop: AbortSignal): Promise<Conditions> {
  const repeats = wholeOf(process.env, 'CONDITION_REPEATS', CONDITION_REPEATS);
  const name = `${sha256Of(base).slice(0, 8)}-${repeats}.ndjson`;
  const output = join(settings.dir, `conditions-${name}`);
  const trajectories = join(settings.dir, `conditions-rollouts-${name}`);
  const blobs = join(settings.dir, 'conditions-blobs');
  const more = ['--max-steps', String(MAX_STEPS), '--trajectories', trajectories, '--blobs', blobs];
  if (!existsSync(output)) {
    say(`the base policy on the training tasks, ${repeats} rollouts each …`);
    await runLines(
      [evaluationLine({ policy: base, tasks: SUITES.train, repeats, seed: 1, output, sample: settings.sample, more })],
      'conditions',
      stop,
    );
    await runLines([`rm -rf ${blobs}`], 'conditions', stop);
  }
  const count = new ConditionsCount();
  for await (const { record } of readRecords(createReadStream(trajectories), { name: trajectories }))
    if (record.type === 'trajectory') count.add(record as Trajectory);
  return count.conditions();
}

async function tellConditions(
  { dir }: Settings,
  base: string,
  conditions: Conditions,
  publish: boolean,
): Promise<void> {
  const table = conditionsTable(conditions);
  await printTable({ stderr: process.stderr }, table.head, table.rows);
  metric('conditions/success', conditions.success);
  metric('conditions/zero', conditions.zero.length / conditions.tasks);
  metric('conditions/easy', conditions.easy.length / conditions.tasks);
  metric('conditions/at_limit', conditions.atLimit);
  metric('conditions/beyond_cap', conditions.beyondCap);
  const text = `The base policy (\`${base}\`), at most ${MAX_STEPS} steps:\n\n${markdownTable(table)}`;
  await writeSection(dir, { name: 'conditions', text, pictures: {} }, publish);
}

/** Base evaluations, then seed by seed every arm, so that what is there at any time is paired. */
function jobsOf(settings: Settings, path: string): Job[] {
  const base = { path, sha256: sha256Of(path) };
  const seeds = Array.from({ length: settings.seeds }, (_, index) => index + 1);
  return [
    ...(['train', 'heldout'] as const).map((suite) => baseEvaluation(settings, path, suite)),
    ...seeds.flatMap((seed) =>
      settings.arms.flatMap((arm) => {
        const training = trainingOf(settings, arm, seed, base);
        return runJobs(trainingPiece(arm.name, training, say), measuresOf(settings));
      }),
    ),
  ];
}

function baseFile({ dir, repeats }: Settings, policy: string, suite: keyof typeof SUITES): string {
  return join(dir, `base-${sha256Of(policy).slice(0, 8)}-${suite}-${repeats}.ndjson`);
}

function baseEvaluation(settings: Settings, policy: string, suite: keyof typeof SUITES): Job {
  const { repeats, sample } = settings;
  const product = baseFile(settings, policy, suite);
  const line = evaluationLine({ policy, tasks: SUITES[suite], repeats, seed: 1, output: product, sample });
  const run = (stop?: AbortSignal) => runLines([line], product, stop);
  return { title: `the base policy on ${suite}`, product, kind: EVALUATION, seconds: 10, run };
}

/** The training tasks at both cuts where arms are compared and at the points of the curve, held-out ones at the end. */
function measuresOf(settings: Settings): Measure[] {
  const at = (cut: string, name: keyof typeof SUITES, repeats: number) => ({
    ...{ cut, name, tasks: { path: SUITES[name], count: settings.sample ?? 60 }, repeats, sample: settings.sample },
  });
  return [
    at(TIME_CUT, 'train', settings.repeats),
    at(TIME_CUT, 'heldout', settings.repeats),
    at(ROLLOUTS_CUT, 'train', settings.repeats),
    ...pointsBefore(settings).map((cut) => at(cut, 'train', settings.pointRepeats)),
  ];
}

/** The points of the curve before the end. */
function pointsBefore(settings: Settings): string[] {
  return curvePoints(settings).filter((cut) => cut !== TIME_CUT);
}

async function runsOf(settings: Settings, policy: string, conditions: Conditions): Promise<LadderRuns> {
  const runs: RunRecord[] = [];
  for (const arm of settings.arms) {
    for (let seed = 1; seed <= settings.seeds; seed += 1) {
      const path = join(dirOf(settings, arm, seed), 'run.json');
      if (existsSync(path)) runs.push(JSON.parse(readFileSync(path, 'utf8')));
    }
  }
  const evaluation = (suite: keyof typeof SUITES) => readEvaluation(baseFile(settings, policy, suite));
  const base = { train: await evaluation('train'), heldout: await evaluation('heldout') };
  return { settings, runs, base, zero: new Set(conditions.zero) };
}

async function tellLadder(all: LadderRuns, publish: boolean): Promise<void> {
  for (const cut of [TIME_CUT, ROLLOUTS_CUT]) {
    for (const row of rowsOf(all, cut)) {
      const { arm, seeds, success, heldout, overRung, overBaseline, curve, curveOverBaseline } = row;
      const name = `ablation/${cut}/${arm.name}`;
      metric(`${name}/success`, success, { seeds });
      metric(`${name}/heldout`, heldout, { seeds });
      if (overRung) metric(`${name}/gain`, overRung.value, { against: arm.against, ...overRung });
      if (overBaseline)
        metric(`${name}/gain_on_baseline`, overBaseline.value, { against: 'baseline', ...overBaseline });
      if (cut === TIME_CUT) metric(`${name}/curve`, curve, { seeds });
      if (cut === TIME_CUT && curveOverBaseline)
        metric(`${name}/curve_gain_on_baseline`, curveOverBaseline.value, {
          against: 'baseline',
          ...curveOverBaseline,
        });
    }
  }
  const section = ladderSection(all);
  await writeSection(all.settings.dir, section, publish);
  process.stderr.write(`\n${section.text}\n`);
}

function metric(name: string, value: number | null, more: Record<string, unknown> = {}): void {
  process.stdout.write(`${JSON.stringify({ type: 'metric', v: 1, name, ...more, value })}\n`);
}

function summary(command: string, more: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ type: 'summary', v: 1, command, ...more })}\n`);
}

function say(line: string): void {
  process.stderr.write(`ablation: ${line}\n`);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    say(error instanceof Stopped ? 'stopped; the same command goes on from here' : messageOf(error));
    process.exitCode = error instanceof Stopped ? error.code : 2;
  },
);
