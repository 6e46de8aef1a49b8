import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { stopCode } from '../../lib/cli/stop.ts';
import { printTable } from '../../lib/cli/table.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { EXIT } from '../../lib/errors.ts';
import { type Comparison, compareResults, type Gate } from '../../lib/report/compare.ts';
import { reportOf } from '../../lib/report/document.ts';
import type { Evaluation } from '../../lib/report/evaluation.ts';
import { baselineGate, type GateResult, scoredGate, thresholdGate } from '../../lib/report/gates.ts';
import { domainTable, percent } from '../../lib/report/tables.ts';
import { counted } from '../../lib/stream/counted.ts';
import type { Summary } from '../../lib/stream/records.ts';
import { checkWritable, wantedReports } from './report_options.ts';
import { type PageParts, writeReports } from './reports.ts';
import { type Results, readResults } from './results.ts';
import { warnOfConditions, warnOfTasks } from './unlike.ts';

/** Loss that is let pass where nobody says how much. */
const MAX_REGRESSION = 0.02;

/** What is settled before the first rollout: a wrong name must not cost the hours of an evaluation. */
export interface Ending {
  reports: ReturnType<typeof wantedReports>;
  /** Null without `--baseline`. */
  baseline: Results | null;
}

/** Reads what the verdict needs. @throws DartError for reports that cannot be made, and a baseline without results. */
export async function prepareEnding(context: CommandContext): Promise<Ending> {
  const { baseline, 'max-regression': allowed } = context.options;
  if (allowed !== undefined && baseline === undefined) {
    throw new UsageError('there is nothing to have fallen from', {
      where: '--max-regression',
      hint: '--baseline FILE with it',
    });
  }
  const reports = wantedReports(context);
  await checkWritable(reports);
  return {
    reports,
    baseline: typeof baseline === 'string' ? await readResults(context, baseline) : null,
  };
}

export interface Measured {
  evaluation: Evaluation;
  page: PageParts;
  ending: Ending;
  /** Extra fields of the summary: what was measured, and how. */
  circumstances?: Readonly<Record<string, unknown>>;
}

/**
 * What both `dart-eval` and `dart-eval score` end with: result records, the summary, the reports, the table, the verdict.
 * After Ctrl-C they say what was reached, marked `interrupted`; a file is then not written, since it would look whole.
 * @returns the exit code: 1 where nothing was scored or a gate does not let it pass
 */
export async function conclude(context: CommandContext, measured: Measured): Promise<number> {
  const { io, options } = context;
  const { evaluation, ending, page, circumstances = {} } = measured;
  const interrupted = io.signal.aborted;
  const summary: Summary = { ...evaluation.summary('dart-eval'), ...circumstances };
  const { gates, comparison } = gatesOf(context, evaluation, summary, ending);
  if (comparison) Object.assign(summary, comparisonFields(comparison));
  Object.assign(summary, interrupted ? { interrupted } : { passed: gates.every(({ passed }) => passed), gates });
  if (interrupted && stopCode(io.signal.reason) === EXIT.ok) return EXIT.ok;
  if (interrupted && options.output !== undefined && options.output !== '-') {
    logOf(context).warn(`stopped after ${summary.rollouts} rollouts; ${options.output} is not written`);
  } else await writeAll(context, evaluation, summary);
  if (options.table) await printTable(io, ...domainTable(evaluation));
  if (interrupted) return EXIT.interrupted;
  const title = `Evaluation of ${summary.policy ?? 'trajectories'}`;
  await writeReports(ending.reports, reportOf(evaluation, { title, summary, gates, comparison, at: new Date() }), page);
  return tell(context, summary, gates);
}

async function writeAll(context: CommandContext, evaluation: Evaluation, summary: Summary): Promise<void> {
  const output = await openOutput(context);
  for (const result of evaluation.results()) await output.write(result);
  await output.write(summary);
  await output.close();
}

function gatesOf(
  context: CommandContext,
  evaluation: Evaluation,
  summary: Summary,
  { baseline }: Ending,
): { gates: GateResult[]; comparison: Comparison | null } {
  const { options } = context;
  const gate = (options.gate ?? 'scored') as Gate;
  const gates = [scoredGate(summary)];
  const threshold = options['fail-under'] as number | undefined;
  if (threshold !== undefined) gates.push(thresholdGate(summary, gate, threshold));
  if (baseline === null) return { gates, comparison: null };
  const comparison = compareResults(baseline.results, evaluation.results(), gate);
  warnOfConditions(context, baseline.summary, summary);
  if (comparison) warnOfTasks(context, comparison, baseline.results.length, String(options.baseline));
  gates.push(
    baselineGate(
      comparison,
      (options['max-regression'] as number | undefined) ?? MAX_REGRESSION,
      String(options.baseline),
    ),
  );
  return { gates, comparison };
}

function comparisonFields({ before, gain, pNotWorse, tasks, unpaired, notRun }: Comparison): Record<string, unknown> {
  return {
    baseline: before,
    gain: gain.value,
    gain_low: gain.low,
    gain_high: gain.high,
    p_not_worse: pNotWorse,
    paired_tasks: tasks.length,
    unpaired: unpaired.length,
    not_run: notRun.length,
  };
}

/** The verdict in words, and as an exit code. */
function tell(context: CommandContext, summary: Summary, gates: readonly GateResult[]): number {
  const log = logOf(context);
  const [scored, ...others] = gates as [GateResult, ...GateResult[]];
  if (!scored.passed) {
    log.error(scored.message);
    return EXIT.negative;
  }
  const share = (field: string) => percent(summary[field] as number);
  log.info(
    `success ${share('success')} (95% interval ${share('success_low')}–${share('success_high')}) over ${counted(summary.scored as number, 'rollout')} of ${counted(summary.tasks as number, 'task')}`,
  );
  const lacking = (summary.errored as number) + (summary.unsupported as number);
  if (lacking > 0 || summary.scored !== summary.rollouts) {
    log.warn(
      `${counted(summary.errored as number, 'task')} could not be scored for errors, ${summary.unsupported} cannot be scored here: success rate ${share('success_rate')} over scored tasks, ${share('success_rate_errors_as_zero')} with errors as 0`,
    );
  }
  for (const { passed, message } of others) passed ? log.info(message) : log.error(message);
  return gates.every(({ passed }) => passed) ? EXIT.ok : EXIT.negative;
}
