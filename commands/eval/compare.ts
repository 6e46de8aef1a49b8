import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { EXIT } from '../../lib/errors.ts';
import { type Comparison, compareResults, type Gate, isRegression } from '../../lib/report/compare.ts';
import { chance } from '../../lib/report/gates.ts';
import { apart, comparisonTable, domainGains, percent, signed } from '../../lib/report/tables.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { readResults } from './results.ts';
import { warnOfConditions, warnOfTasks } from './unlike.ts';

/** `dart-eval compare BEFORE AFTER`: the gain, paired by task. */
export async function run(context: CommandContext): Promise<number> {
  const [before, after] = context.positionals as [string, string];
  const gate = context.options.gate as Gate;
  const [first, second] = [await readResults(context, before), await readResults(context, after)];
  const comparison = compareResults(first.results, second.results, gate);
  const log = logOf(context);
  warnOfConditions(context, first.summary, second.summary);
  if (!comparison) {
    log.error(`no task was scored in both ${before} and ${after}`);
    return EXIT.negative;
  }
  warnOfTasks(context, comparison, first.results.length, before);
  const { gain, pNotWorse } = comparison;
  const output = await openOutput(context);
  await output.write({
    type: 'summary',
    v: SCHEMA_VERSION,
    command: 'dart-eval compare',
    gate,
    before: comparison.before,
    after: comparison.after,
    gain: gain.value,
    gain_low: gain.low,
    gain_high: gain.high,
    p_not_worse: pNotWorse,
    tasks: comparison.tasks.length,
    improved: comparison.tasks.filter((task) => task.after > task.before).length,
    worse: comparison.tasks.filter((task) => task.after < task.before).length,
    unpaired: comparison.unpaired,
    not_run: comparison.notRun,
  });
  await output.close();
  if (context.options.table) {
    await printTable(context.io, ...domainGains(comparison));
    await printTable(context.io, ...comparisonTable(comparison));
  }
  log.info(
    `${percent(comparison.before)} → ${percent(comparison.after)}: gain ${signed(gain.value)} (95% interval ${signed(gain.low)} to ${signed(gain.high)}, ${comparison.tasks.length} tasks)`,
  );
  return passes(context, comparison) ? EXIT.ok : EXIT.negative;
}

function passes(context: CommandContext, comparison: Comparison): boolean {
  const { options } = context;
  const threshold = options['fail-under'] as number | undefined;
  const allowed = options['max-regression'] as number | undefined;
  const { gain, pNotWorse } = comparison;
  const tooLow = threshold !== undefined && gain.low < threshold;
  const fallen = allowed !== undefined && isRegression(comparison, allowed);
  const log = logOf(context);
  if (tooLow) log.error(`the lower end ${apart(signed, gain.low, threshold).join(' is below --fail-under ')}`);
  if (fallen)
    log.error(`a regression of more than ${signed(allowed).slice(1)}: ${signed(gain.value)}, ${chance(pNotWorse)}`);
  return !tooLow && !fallen;
}
