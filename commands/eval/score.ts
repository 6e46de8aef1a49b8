import { readInputs } from '../../lib/cli/input.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { Evaluation } from '../../lib/report/evaluation.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { conclude } from './verdict.ts';

/** `dart-eval score [FILES|-]`: records of other types are not scores and are left aside. */
export async function run(context: CommandContext): Promise<number> {
  const evaluation = new Evaluation();
  const progress = new Progress(context, 'scoring');
  const skipped = { count: 0 };
  let seen = 0;
  try {
    for await (const { record, where } of readInputs(context, context.positionals, skipped)) {
      if (record.type !== 'trajectory') continue;
      evaluation.add(parseRecord('trajectory', record, where));
      seen += 1;
      progress.update(() => `${seen} trajectories of ${evaluation.tasks} tasks`);
    }
  } finally {
    progress.stop();
  }
  return conclude(context, evaluation, { skipped: skipped.count });
}
