import { logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { trajectoryRejected } from '../../lib/curation/events.ts';
import { presetOptions } from '../../lib/curation/options.ts';
import { isSuccess } from '../../lib/curation/success.ts';
import { EXIT } from '../../lib/errors.ts';
import type { Store } from '../../lib/store/index.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { givenBlobs } from './blobs.ts';
import { ImportStore } from './import_store.ts';
import { anyStore, storeToRead } from './store.ts';
import { reading, readTrajectories } from './trajectories.ts';

/** `dart-curate pool add`: successes of the input become experience. */
export async function add(context: CommandContext): Promise<number> {
  givenBlobs(context);
  if (context.options['dry-run'] === true) return tell(context, 'would add the successes of the input to the pool');
  const store = await anyStore(context);
  try {
    return await addAll(context, store, await openOutput(context));
  } finally {
    await store.close();
  }
}

/** `dart-curate pool list`: what the pool holds, by task. */
export async function list(context: CommandContext): Promise<number> {
  const store = await storeToRead(context);
  try {
    const output = await openOutput(context);
    const counts = await store.experienceCounts();
    for (const row of counts) await output.write({ type: 'event', v: SCHEMA_VERSION, event: 'experience', ...row });
    const successes = counts.reduce((sum, row) => sum + row.successes, 0);
    await output.write(summary('dart-curate pool list', { tasks: counts.length, successes }));
    await output.close();
    if (context.options.table === true) {
      const rows = counts.map((row) => [row.task_id, row.domain, row.successes, row.unscored]);
      await printTable(context.io, ['task', 'domain', 'successes', 'without log-probs'], rows);
    }
    if (counts.length === 0) tell(context, 'the pool is empty');
    return counts.length > 0 ? EXIT.ok : EXIT.negative;
  } finally {
    await store.close();
  }
}

async function addAll(context: CommandContext, store: Store, output: Output): Promise<number> {
  const capacity = (context.options['pool-capacity'] as number | undefined) ?? presetOptions('dart').poolCapacity;
  const state = reading((record) => output.write(record));
  const pool = new ImportStore(store, capacity);
  let successes = 0;
  let noSteps = 0;
  for await (const trajectory of readTrajectories(context, 'pool add', state)) {
    if (!isSuccess(trajectory)) continue;
    if (trajectory.steps.length === 0) {
      noSteps += 1;
      await output.write(trajectoryRejected(trajectory, 'no_steps'));
      continue;
    }
    successes += 1;
    await pool.add(trajectory);
  }
  await pool.flush();
  const { skipped, count: trajectories, missingScreenshot } = state;
  const rejected = { missing_screenshot: missingScreenshot, no_steps: noSteps };
  const numbers = { trajectories, successes, added: pool.pooled, rejected, skipped_records: skipped.count };
  await output.write(summary('dart-curate pool add', numbers));
  await output.close();
  if (noSteps > 0)
    logOf(context).warn(`left out: ${noSteps} successes without a step. Nothing can be learned from them`);
  tell(context, `${pool.pooled} of ${successes} successes were new to the pool`);
  if (skipped.count > 0) return EXIT.failure;
  return successes > 0 ? EXIT.ok : EXIT.negative;
}

function summary(command: string, numbers: Record<string, unknown>) {
  return { type: 'summary', v: SCHEMA_VERSION, command, ...numbers };
}

function tell(context: CommandContext, line: string): number {
  logOf(context).info(line);
  return EXIT.ok;
}
