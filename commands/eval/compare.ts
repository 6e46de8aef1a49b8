import { readInputs } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { compareResults } from '../../lib/report/compare.ts';
import { comparisonTable, percent, signed } from '../../lib/report/tables.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { type Result, SCHEMA_VERSION } from '../../lib/stream/records.ts';

/** `dart-eval compare BEFORE AFTER`: the gain, paired by task. */
export async function run(context: CommandContext): Promise<number> {
  const [before, after] = context.positionals as [string, string];
  const comparison = compareResults(await results(context, before), await results(context, after));
  const log = logOf(context);
  if (!comparison) {
    log.error(`no task was scored in both ${before} and ${after}`);
    return EXIT.negative;
  }
  const { gain } = comparison;
  const output = await openOutput(context);
  await output.write({
    type: 'summary',
    v: SCHEMA_VERSION,
    command: 'dart-eval compare',
    before: comparison.before,
    after: comparison.after,
    gain: gain.value,
    gain_low: gain.low,
    gain_high: gain.high,
    tasks: comparison.tasks.length,
    unpaired: comparison.unpaired,
  });
  await output.close();
  if (context.options.table) await printTable(context.io, ...comparisonTable(comparison));
  log.info(
    `${percent(comparison.before)} → ${percent(comparison.after)}: gain ${signed(gain.value)} (95% interval ${signed(gain.low)} to ${signed(gain.high)}, ${comparison.tasks.length} tasks)`,
  );
  const threshold = context.options['fail-under'] as number | undefined;
  return threshold === undefined || gain.low >= threshold ? EXIT.ok : EXIT.negative;
}

async function results(context: CommandContext, path: string): Promise<Result[]> {
  const found: Result[] = [];
  for await (const { record, where } of readInputs(context, [path])) {
    if (record.type === 'result') found.push(parseRecord('result', record, where));
  }
  if (found.length === 0) throw new DartError('no result record', { where: path, hint: 'a file that dart-eval wrote' });
  return found;
}
