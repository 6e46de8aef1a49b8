import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { EXIT } from '../../lib/errors.ts';
import type { Evaluation } from '../../lib/report/evaluation.ts';
import { domainTable, percent } from '../../lib/report/tables.ts';
import type { Summary } from '../../lib/stream/records.ts';

/** Extra fields of the summary: what was measured, and how. */
export type Circumstances = Readonly<Record<string, unknown>>;

/**
 * What both `dart-eval` and `dart-eval score` end with: result records, the summary, the table, the verdict.
 * @returns the exit code: 1 where nothing was scored or success is below `--fail-under`
 */
export async function conclude(
  context: CommandContext,
  evaluation: Evaluation,
  circumstances: Circumstances = {},
): Promise<number> {
  const output = await openOutput(context);
  for (const result of evaluation.results()) await output.write(result);
  const summary = { ...evaluation.summary('dart-eval'), ...circumstances };
  await output.write(summary);
  await output.close();
  if (context.options.table) await printTable(context.io, ...domainTable(evaluation));
  return verdict(context, summary);
}

function verdict(context: CommandContext, summary: Summary): number {
  const log = logOf(context);
  const success = summary.success as number | null;
  const threshold = context.options['fail-under'] as number | undefined;
  if (success === null) {
    log.error('no rollout could be scored; the outcomes in the summary say why');
    return EXIT.negative;
  }
  const interval = `95% interval ${percent(summary.success_low as number)}–${percent(summary.success_high as number)}`;
  log.info(`success ${percent(success)} (${interval}) over ${summary.scored} rollouts of ${summary.tasks} tasks`);
  if (threshold === undefined || success >= threshold) return EXIT.ok;
  log.error(`success ${percent(success)} is below --fail-under ${percent(threshold)}`);
  return EXIT.negative;
}
