import { printTable } from '../../lib/cli/table.ts';
import { makeBase, readBase } from './base.ts';
import { idleAt } from './compare.ts';
import { type Conditions, conditionsTable } from './conditions.ts';
import { conditionsOf } from './conditions_run.ts';
import { MAX_STEPS } from './evaluations.ts';
import { idleLine, type RunRecord } from './job.ts';
import { type LadderRuns, ladderSection, rowsOf } from './ladder_report.ts';
import { isLadderRun, ladderJobs, ladderRuns, pointsBefore } from './ladder_runs.ts';
import { lockRuns } from './lock.ts';
import { makespan } from './makespan.ts';
import { ROLLOUTS_CUT, TIME_CUT } from './plan.ts';
import { type Call, playProgram } from './play.ts';
import { ABLATION } from './programs.ts';
import { publishedPath, publishRuns, takePublished } from './published.ts';
import { playJobs, spoken } from './queue.ts';
import { markdownTable, writeSection } from './report.ts';
import { type Settings, settingsFrom } from './settings.ts';

/**
 * `make ablation`: DART's ladder on the embedded suite, each arm with the same seeds, or what a word of programs.ts asks for.
 * Records on stdout, the rest on stderr.
 */
async function main({ request, env, stop, say }: Call<keyof typeof ABLATION.flags>): Promise<void> {
  const settings = settingsFrom(env);
  const began = Date.now();
  const { word, flags } = request;
  if (word === 'base') return say(`the base policy is ${await makeBase(say, stop)}; BASE=… begins with it`);
  const base = readBase(settings.base);
  lockRuns(settings.dir, 'make ablation');
  const [publish, report] = [flags.has('publish'), flags.has('report')];
  const conditions = await conditionsOf(settings, base, { make: !report, say, stop });
  await tellConditions(settings, conditions, publish);
  if (word === 'conditions') return;

  const fits = (run: RunRecord) => isLadderRun(settings, base, run);
  if (flags.has('published')) await takePublished(publishedPath('ablation'), settings.dir, fits, say);
  if (!report) {
    const jobs = ladderJobs(settings, base, say);
    const about = spoken(makespan(jobs, settings.lanes));
    const what = `${settings.arms.length} arms × ${settings.seeds} seeds`;
    say(`${what}, on two cores alone about ${about} in all; Ctrl-C and the same command again goes on`);
    await playJobs(jobs, say, { stop, lanes: settings.lanes });
  }
  const all = await ladderRuns(settings, base, conditions, say);
  for (const { name, seed } of idleAt(all.runs, TIME_CUT)) say(idleLine(name, seed));
  await tellLadder(all, publish);
  if (publish) await publishRuns(publishedPath('ablation'), all.runs, { stays: fits, points: pointsBefore(settings) });
  summary('ablation', { wall_s: Math.round((Date.now() - began) / 1000), seeds: settings.seeds });
}

async function tellConditions({ dir, base }: Settings, conditions: Conditions, publish: boolean): Promise<void> {
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

playProgram(ABLATION, main);
