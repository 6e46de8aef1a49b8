import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { demonstrationsOf, type RejectionOptions, RejectionSampler } from '../../lib/curation/demonstrations.ts';
import type { Scored } from '../../lib/curation/success.ts';
import { EXIT } from '../../lib/errors.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { reading, readTrajectories } from './trajectories.ts';

/** `dart-curate demos`: reject sampling. */
export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const sampler = new RejectionSampler({
    threshold: options.threshold as number,
    perTask: (options['per-task'] as number | undefined) ?? null,
    prefer: options.rank as RejectionOptions['prefer'],
  });
  const output = await openOutput(context);
  const state = reading((record) => output.write(record));
  const tasks = new Set<string>();
  const counts = { demonstrations: 0, unread_steps: 0 };
  const write = async (trajectory: Scored) => {
    const demonstrations = demonstrationsOf(trajectory);
    tasks.add(trajectory.task_id);
    counts.demonstrations += demonstrations.length;
    counts.unread_steps += trajectory.steps.length - demonstrations.length;
    for (const record of demonstrations) await output.write(record);
  };
  for await (const trajectory of readTrajectories(context, 'demos', state)) {
    const taken = sampler.offer(trajectory);
    if (taken) await write(taken);
  }
  for (const trajectory of sampler.rest()) await write(trajectory);
  const { taken: episodes, ...rejected } = sampler.verdicts;
  const numbers = {
    trajectories: state.count,
    episodes,
    tasks: tasks.size,
    ...counts,
    rejected: { ...rejected, missing_screenshot: state.missingScreenshot },
    skipped_records: state.skipped.count,
  };
  await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-curate demos', ...numbers });
  await output.close();
  logOf(context).info(
    `${counts.demonstrations} demonstrated steps from ${episodes} of ${state.count} trajectories, ${tasks.size} tasks`,
  );
  if (counts.unread_steps > 0) {
    logOf(context).warn(
      `${counts.unread_steps} steps have replies that could not be read as actions; they were left out`,
    );
  }
  if (options.table === true) {
    await printTable(context.io, ['episodes', 'number'], [['taken', episodes], ...Object.entries(numbers.rejected)]);
  }
  if (state.skipped.count > 0) return EXIT.failure;
  return counts.demonstrations > 0 ? EXIT.ok : EXIT.negative;
}
