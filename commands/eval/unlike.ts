import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import type { Comparison } from '../../lib/report/compare.ts';
import { differingConditions } from '../../lib/report/conditions.ts';
import type { Summary } from '../../lib/stream/records.ts';

/** A difference of two success rates may come from how they were measured. */
export function warnOfConditions(context: CommandContext, before: Summary | null, now: Summary | null): void {
  const differing = differingConditions(before, now);
  if (differing.length === 0) return;
  logOf(context).warn(`the two evaluations were not made alike: ${differing.join('; ')}`);
}

/** Tasks that only the first side has are no part of the gain, or count as 0. */
export function warnOfTasks(context: CommandContext, { notRun }: Comparison, tasks: number, name: string): void {
  if (notRun.length === 0) return;
  const fate = context.options.gate === 'errors-as-zero' ? 'they count as 0' : 'they take no part in the comparison';
  const some = notRun.slice(0, 3).join(', ');
  const more = notRun.length > 3 ? ', …' : '';
  logOf(context).warn(`${notRun.length} of the ${tasks} tasks of ${name} were not run (${some}${more}): ${fate}`);
}
