import { logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { labelled, PairSampler } from '../../lib/curation/preferences.ts';
import { isScored, type Scored } from '../../lib/curation/success.ts';
import { EXIT } from '../../lib/errors.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { reading, readTrajectories, type TrajectoryReading } from './trajectories.ts';

/** `dart-curate pairs`: preferences for DPO and KTO. */
export async function run(context: CommandContext): Promise<number> {
  const output = await openOutput(context);
  const state = reading((record) => output.write(record));
  const method = context.options.for === 'kto' ? label : pair;
  const rejected = { error: 0, no_steps: 0 };
  const { records, numbers, line } = await method(context, output, scoredOnly(context, state, rejected));
  const left = { ...rejected, missing_screenshot: state.missingScreenshot };
  const all = { for: context.options.for, trajectories: state.count, ...numbers, rejected: left };
  const summary = { ...all, skipped_records: state.skipped.count };
  await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-curate pairs', ...summary });
  await output.close();
  logOf(context).info(line);
  if (state.skipped.count > 0) return EXIT.failure;
  return records > 0 ? EXIT.ok : EXIT.negative;
}

interface Made {
  records: number;
  numbers: Record<string, unknown>;
  line: string;
}

async function* scoredOnly(
  context: CommandContext,
  state: TrajectoryReading,
  rejected: { error: number; no_steps: number },
): AsyncGenerator<Scored, void, void> {
  for await (const trajectory of readTrajectories(context, 'pairs', state)) {
    if (!isScored(trajectory)) rejected.error += 1;
    else if (trajectory.steps.length === 0) rejected.no_steps += 1;
    else yield trajectory;
  }
}

async function label({ options }: CommandContext, output: Output, scored: AsyncIterable<Scored>): Promise<Made> {
  const counts = { desirable: 0, undesirable: 0 };
  for await (const trajectory of scored) {
    const preference = labelled(trajectory, options.threshold as number);
    counts[preference.label ? 'desirable' : 'undesirable'] += 1;
    await output.write(preference);
  }
  const { desirable, undesirable } = counts;
  const line = `${desirable} desirable and ${undesirable} undesirable trajectories`;
  return { records: desirable + undesirable, numbers: counts, line };
}

async function pair({ options }: CommandContext, output: Output, scored: AsyncIterable<Scored>): Promise<Made> {
  const seed = (options.seed as number | undefined) ?? 0;
  const sampler = new PairSampler({ threshold: options.threshold as number, pairs: options.pairs as number, seed });
  for await (const trajectory of scored) sampler.offer(trajectory);
  const counts = { pairs: 0, tasks: 0, tasks_without_pair: { no_success: 0, no_failure: 0 } };
  for (const { task_id, domain, pairs, missing } of sampler.results()) {
    for (const preference of pairs) await output.write(preference);
    counts.pairs += pairs.length;
    if (missing === null) counts.tasks += 1;
    else {
      counts.tasks_without_pair[missing] += 1;
      const event = { event: 'task_without_pair', reason: missing, task_id, domain };
      await output.write({ type: 'event', v: SCHEMA_VERSION, ...event });
    }
  }
  const { no_success, no_failure } = counts.tasks_without_pair;
  const line = `${counts.pairs} pairs of ${counts.tasks} tasks; without a success ${no_success}, without a failure ${no_failure}`;
  return { records: counts.pairs, numbers: counts, line };
}
