import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { stopCode } from '../../lib/cli/stop.ts';
import { printTable } from '../../lib/cli/table.ts';
import { EXIT } from '../../lib/errors.ts';
import type { Evaluation } from '../../lib/report/evaluation.ts';
import { domainTable, percent } from '../../lib/report/tables.ts';
import type { Summary } from '../../lib/stream/records.ts';

/** Extra fields of the summary: what was measured, and how. */
export type Circumstances = Readonly<Record<string, unknown>>;

/**
 * What both `dart-eval` and `dart-eval score` end with: result records, the summary, the table, the verdict. After
 * Ctrl-C they say what was reached, marked `interrupted`; a file is then not written, since it would look whole.
 * @returns the exit code: 1 where nothing was scored or success is below `--fail-under`
 */
export async function conclude(
  context: CommandContext,
  evaluation: Evaluation,
  circumstances: Circumstances = {},
): Promise<number> {
  const { io, options } = context;
  const interrupted = io.signal.aborted;
  const summary: Summary = {
    ...evaluation.summary('dart-eval'),
    ...circumstances,
    ...(interrupted && { interrupted }),
  };
  if (interrupted && stopCode(io.signal.reason) === EXIT.ok) return EXIT.ok;
  if (interrupted && options.output !== undefined && options.output !== '-') {
    logOf(context).warn(`stopped after ${summary.rollouts} rollouts; ${options.output} is not written`);
  } else await writeAll(context, evaluation, summary);
  if (options.table) await printTable(io, ...domainTable(evaluation));
  return interrupted ? EXIT.interrupted : verdict(context, summary);
}

async function writeAll(context: CommandContext, evaluation: Evaluation, summary: Summary): Promise<void> {
  const output = await openOutput(context);
  for (const result of evaluation.results()) await output.write(result);
  await output.write(summary);
  await output.close();
}

function verdict(context: CommandContext, summary: Summary): number {
  const log = logOf(context);
  const success = summary.success as number | null;
  const threshold = context.options['fail-under'] as number | undefined;
  if (success === null) {
    log.error(
      summary.rollouts === 0 ? 'nothing to score' : 'no rollout could be scored; its outcomes are in the summary',
    );
    return EXIT.negative;
  }
  const interval = `95% interval ${percent(summary.success_low as number)}–${percent(summary.success_high as number)}`;
  log.info(`success ${percent(success)} (${interval}) over ${summary.scored} rollouts of ${summary.tasks} tasks`);
  if (threshold === undefined || success >= threshold) return EXIT.ok;
  log.error(`success ${percent(success)} is below --fail-under ${percent(threshold)}`);
  return EXIT.negative;
}
