import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { Curator } from '../../lib/curation/curator.ts';
import { isWarning } from '../../lib/curation/events.ts';
import { privateLedger, StoreLedger } from '../../lib/curation/ledger.ts';
import { CurationLoop } from '../../lib/curation/loop.ts';
import { MemoryPool } from '../../lib/curation/memory-pool.ts';
import type { CurationOptions } from '../../lib/curation/options.ts';
import { RecordBatch } from '../../lib/curation/record-batch.ts';
import { Shelf } from '../../lib/curation/shelf.ts';
import { StorePool } from '../../lib/curation/store-pool.ts';
import { curationSummary, describeTally } from '../../lib/curation/summary.ts';
import { count, type Tally } from '../../lib/curation/tally.ts';
import { CurrentVersions } from '../../lib/curation/versions.ts';
import { EXIT } from '../../lib/errors.ts';
import { newOwner, type Store, withoutPassword } from '../../lib/store/index.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { ReadRecord } from '../../lib/stream/reader.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { inputBatches, type Skipped, skipRecord } from './input.ts';
import { curationOptions } from './settings.ts';
import { givenStore } from './store.ts';

/** `dart-curate`: trajectories in, samples out. */
export async function run(context: CommandContext): Promise<number> {
  const rules = curationOptions(context.options);
  if (context.options['dry-run'] === true) return tellPlan(context, rules);
  const store = await givenStore(context);
  const output = await openOutput(context);
  try {
    return await curate(context, rules, store, output);
  } finally {
    await store?.close();
  }
}

async function curate(
  context: CommandContext,
  rules: CurationOptions,
  store: Store | null,
  output: Output,
): Promise<number> {
  const { io } = context;
  const skipped: Skipped = { count: 0 };
  const { loop, curator, shelf } = assemble(context, rules, store, output, skipped);
  const passed: Record<string, number> = {};
  const progress = new Progress(context, 'curate');
  loop.onTick = () => progress.update(() => describeTally(curator.tally));
  try {
    await loop.run(counting(inputBatches(context, skipped), passed));
  } finally {
    progress.stop();
    await shelf.close();
  }
  tellOfShelf(context, shelf);
  const { tally } = curator;
  if (io.signal.aborted) {
    // Told to stop: whoever still reads gets the numbers so far; what is unfinished is in the store.
    const reads = !(io.signal.reason instanceof ReaderGone);
    if (reads) await output.write(curationSummary(tally, skipped.count)).catch(() => {});
    return EXIT.ok;
  }
  await output.write(curationSummary(tally, skipped.count));
  await output.close();
  progress.done(describeTally(tally));
  if (tally.trajectories === 0) logOf(context).warn(noTrajectory(passed));
  if (context.options.table === true) await printTable(io, ['outcome', 'reason', 'count'], tableOf(tally));
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

function noTrajectory(passed: Readonly<Record<string, number>>): string {
  const others = Object.entries(passed).filter(([type]) => type !== 'trajectory');
  const list = others.map(([type, number]) => `${number} ${type} records`).join(', ');
  return `no trajectory record came${list && `; ${list} passed`}. Try: dart-rollout … | dart-curate`;
}

function assemble(
  context: CommandContext,
  rules: CurationOptions,
  store: Store | null,
  output: Output,
  skipped: Skipped,
) {
  const { io, options } = context;
  const versions = new CurrentVersions(store);
  const lease = { owner: newOwner(), ttlMs: Number(options.lease) * 1000 };
  const ledger = store ? new StoreLedger(store, lease, rules) : null;
  const shelf = new Shelf(Number(options['hold-memory']) * 1e6, io.env.TMPDIR || undefined);
  const blobs = options.blobs === undefined ? null : new BlobStore(resolvePath(io, String(options.blobs)));
  const curator = new Curator({
    options: rules,
    pool: store ? new StorePool(store, rules.poolCapacity) : new MemoryPool(rules.poolCapacity, shelf),
    ledger: ledger ?? privateLedger,
    versions,
    hasScreenshot: blobs ? (sha256) => blobs.has(sha256) : undefined,
    shelf,
  });
  const batch = new RecordBatch(output.writer);
  const follows = options.follow === true;
  const loop = new CurationLoop({
    curator,
    versions,
    store,
    recovery: store && ledger && follows ? { store, ledger, curator, versions, options: rules } : null,
    write: (record) => {
      if (isWarning(record)) logOf(context).warn(describeWarning(record));
      return batch.write(record);
    },
    flush: () => batch.flush(),
    onBadRecord: (error) => skipRecord(context, skipped, error),
    signal: io.signal,
  });
  return { loop, curator, shelf };
}

function describeWarning({ run_id, policy, settings }: AnyRecord): string {
  return `run ${run_id}, policy ${policy}: sampled with ${(settings as string[]).join(', ')}: its log-probabilities are not the policy's and bias the importance weights. Try: top_p 1, no top_k, no penalties`;
}

function tellOfShelf(context: CommandContext, { seen }: Shelf): void {
  if (seen.spilled === 0) return;
  const megabytes = Math.round(seen.spilled / 1e6);
  const advice = 'Try: --hold-memory, or rollouts that finish one group before the next';
  logOf(context).info(`${megabytes} MB of unfinished groups were kept in temporary files meanwhile. ${advice}`);
}

function tableOf(tally: Tally): [string, string, number][] {
  return [
    ['groups handed on', '', tally.groups],
    ['of them with a stored success', '', tally.injected],
    ...Object.entries(tally.rejectedGroups).map(([reason, n]): [string, string, number] => [
      'group left out',
      reason,
      n,
    ]),
    ...Object.entries(tally.rejectedTrajectories).map(([reason, n]): [string, string, number] => [
      'trajectory left out',
      reason,
      n,
    ]),
  ];
}

function tellPlan({ positionals, options, ...context }: CommandContext, rules: CurationOptions): number {
  const from = positionals.length === 0 ? 'standard input' : positionals.join(', ');
  const keep =
    options.store === undefined ? 'nothing is stored' : `stored in ${withoutPassword(String(options.store))}`;
  logOf({ positionals, options, ...context }).info(
    `would curate ${from}, ${keep}: pool ${rules.pool}, staleness up to ${rules.maxStaleness}, advantage ${rules.advantage} per ${rules.advantageScope}`,
  );
  return EXIT.ok;
}
