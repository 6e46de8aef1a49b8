import { logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import type { CurationOptions } from '../../lib/curation/options.ts';
import { curationSummary, describeTally } from '../../lib/curation/summary.ts';
import { count } from '../../lib/curation/tally.ts';
import { EXIT } from '../../lib/errors.ts';
import type { Store } from '../../lib/store/index.ts';
import type { ReadRecord } from '../../lib/stream/reader.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { type Assembly, assemble } from './assemble.ts';
import { givenBlobs } from './blobs.ts';
import { checkRepeated, lockOf, type OpenCursor, repeatedInput } from './cron.ts';
import { inputBatches, type Skipped } from './input.ts';
import { curationOptions } from './settings.ts';
import { anyStore, givenStore, storeToRead } from './store.ts';
import { noTrajectory, tableOf, tellOfMissing, tellOfShelf, tellPlan } from './tell.ts';

/** `dart-curate`: trajectories in, samples out. */
export async function run(context: CommandContext): Promise<number> {
  const rules = curationOptions(context.options);
  checkRepeated(context);
  givenBlobs(context);
  if (context.options['dry-run'] === true) return tellPlan(context, rules);
  const unlock = await lockOf(context);
  try {
    const store = await (context.options['from-store'] === true ? storeThatIs(context) : givenStore(context));
    try {
      return await curate(context, rules, store, await openOutput(context));
    } finally {
      await store?.close();
    }
  } finally {
    unlock();
  }
}

/** What is read is not made: a mistyped name would always have nothing new. Then as any store that is written to. */
async function storeThatIs(context: CommandContext): Promise<Store> {
  await (await storeToRead(context)).close();
  return anyStore(context);
}

async function curate(
  context: CommandContext,
  rules: CurationOptions,
  store: Store | null,
  output: Output,
): Promise<number> {
  const skipped: Skipped = { count: 0 };
  const repeated = await repeatedInput(context, store, skipped);
  const cursor = repeated?.cursor ?? null;
  const parts = assemble({ context, rules, store, output, skipped, cursor });
  const passed: Record<string, number> = {};
  const progress = new Progress(context, 'curate');
  parts.loop.onTick = () => progress.update(() => describeTally(parts.curator.tally));
  try {
    await takeUp(cursor, parts);
    await parts.loop.run(counting(repeated?.batches ?? inputBatches(context, skipped), passed));
    if (context.io.signal.aborted) return await stopped(context, output, parts, skipped);
    tellOfShelf(context, parts.shelf);
    await complete(output, parts, skipped, cursor);
    progress.done(describeTally(parts.curator.tally));
  } finally {
    progress.stop();
    await parts.shelf.close();
  }
  return verdict(context, parts, skipped, passed);
}

async function takeUp(cursor: OpenCursor | null, { curator, versions }: Assembly): Promise<void> {
  if (!cursor) return;
  const { groups, state } = cursor.before;
  versions.restore(state.versions);
  await curator.restore(groups, state.closed);
}

/** Told to stop: whoever still reads gets the numbers so far; what is unfinished is in the store, or read again. */
async function stopped({ io }: CommandContext, output: Output, { curator }: Assembly, skipped: Skipped) {
  const reads = !(io.signal.reason instanceof ReaderGone);
  if (reads) await output.write(curationSummary(curator.tally, skipped.count)).catch(() => {});
  return EXIT.ok;
}

/** First the output, then the cursor: a run that dies in between is done again, with the same bytes. */
async function complete(
  output: Output,
  { curator, versions }: Assembly,
  skipped: Skipped,
  cursor: OpenCursor | null,
): Promise<void> {
  const summary = curationSummary(curator.tally, skipped.count);
  const carried = {
    groups_from_last_run: cursor?.before.groups.length,
    groups_for_next_run: curator.openGroups.length,
  };
  await output.write(cursor ? { ...summary, ...carried } : summary);
  await output.close();
  await cursor?.move(curator, versions);
}

async function verdict(
  context: CommandContext,
  { curator: { tally } }: Assembly,
  skipped: Skipped,
  passed: Readonly<Record<string, number>>,
): Promise<number> {
  const { options, io } = context;
  if (tally.trajectories === 0 && tally.groups === 0) {
    if (options.cursor === undefined) logOf(context).warn(noTrajectory(passed, 'dart-curate'));
    else logOf(context).info('nothing new since the last run');
  }
  const missing = tally.rejectedTrajectories.missing_screenshot ?? 0;
  if (missing > 0 && missing === tally.trajectories) tellOfMissing(context, missing, tally.trajectories);
  if (options.table === true) await printTable(io, ['outcome', 'reason', 'count'], tableOf(tally));
  if (skipped.count > 0) return EXIT.failure;
  return tally.groups > 0 ? EXIT.ok : EXIT.negative;
}

/** The same records, counted by type. */
async function* counting(
  batches: AsyncIterable<ReadRecord[]>,
  counts: Record<string, number>,
): AsyncGenerator<ReadRecord[], void, void> {
  for await (const batch of batches) {
    for (const { record } of batch) count(counts, record.type);
    yield batch;
  }
}
