import { orLeftOut, readInputs } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { Evaluation } from '../../lib/report/evaluation.ts';
import { PageChoice } from '../../lib/report/evaluation_page.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { givenBlobs } from '../blobs.ts';
import { nothing, shrinking } from './screenshots.ts';
import { conclude, prepareEnding } from './verdict.ts';

/** `dart-eval score [FILES|-]`: records of other types are not scores and are left aside. */
export async function run(context: CommandContext): Promise<number> {
  const { io } = context;
  const log = logOf(context);
  const ending = await prepareEnding(context);
  const blobs = givenBlobs(context);
  const evaluation = new Evaluation();
  const choice = new PageChoice();
  const progress = new Progress(context, 'scoring');
  const skipped = { count: 0 };
  const seen = { trajectories: 0, repeated: 0, others: new Map<string, number>() };
  try {
    for await (const { record, where } of readInputs(context, context.positionals, skipped)) {
      if (record.type !== 'trajectory') {
        seen.others.set(record.type, (seen.others.get(record.type) ?? 0) + 1);
        continue;
      }
      const trajectory = orLeftOut(context, skipped, () => parseRecord('trajectory', record, where));
      if (trajectory === null) continue;
      seen.trajectories += 1;
      if (evaluation.add(trajectory)) choice.add(trajectory);
      else seen.repeated += 1;
      progress.update(() => `${seen.trajectories} trajectories of ${evaluation.tasks} tasks`);
    }
  } catch (error) {
    // After Ctrl-C what was read is scored; anything else is an error.
    if (!io.signal.aborted) throw error;
  } finally {
    progress.stop();
  }
  if (seen.repeated > 0) log.warn(`${seen.repeated} trajectories came twice and were counted once`);
  if (seen.trajectories === 0 && !io.signal.aborted) log.warn(nothingToScore(seen.others));
  return conclude(context, {
    ...{ evaluation, ending },
    page: { choice, loadBlob: blobs ? shrinking(blobs) : nothing },
    circumstances: { gate: context.options.gate, skipped: skipped.count, repeated: seen.repeated },
  });
}

function nothingToScore(others: ReadonlyMap<string, number>): string {
  const came = [...others].map(([type, count]) => `${count} ${type}`).join(', ');
  const passed = came === '' ? 'the input was empty' : `records that came: ${came}`;
  return `no trajectory record came (${passed}). Try: dart-rollout … | dart-eval score -`;
}
