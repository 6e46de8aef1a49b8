import { logOf } from '../../lib/cli/log.ts';
import type { Output } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { Curator } from '../../lib/curation/curator.ts';
import { isWarning } from '../../lib/curation/events.ts';
import { privateLedger, StoreLedger } from '../../lib/curation/ledger.ts';
import { CurationLoop } from '../../lib/curation/loop.ts';
import { MemoryPool } from '../../lib/curation/memory-pool.ts';
import type { CurationOptions } from '../../lib/curation/options.ts';
import { RecordBatch } from '../../lib/curation/record-batch.ts';
import { closeRipe } from '../../lib/curation/ripe.ts';
import { Shelf } from '../../lib/curation/shelf.ts';
import { StorePool } from '../../lib/curation/store-pool.ts';
import { CurrentVersions } from '../../lib/curation/versions.ts';
import { newOwner, type Store } from '../../lib/store/index.ts';
import { givenBlobs } from './blobs.ts';
import type { OpenCursor } from './cron.ts';
import { type Skipped, skipRecord } from './input.ts';
import { describeWarning } from './tell.ts';

/** The parts of one curation, put together. */
export interface Assembly {
  loop: CurationLoop;
  curator: Curator;
  versions: CurrentVersions;
  shelf: Shelf;
}

/** What they are put together from. */
export interface Setting {
  context: CommandContext;
  rules: CurationOptions;
  store: Store | null;
  output: Output;
  skipped: Skipped;
  cursor: OpenCursor | null;
}

/** Pool, ledger and recovery in the store where there is one, else in memory. */
export function assemble({ context, rules, store, output, skipped, cursor }: Setting): Assembly {
  const { io, options } = context;
  const versions = new CurrentVersions(store);
  const lease = { owner: newOwner(), ttlMs: Number(options.lease) * 1000 };
  const ledger = store ? new StoreLedger(store, lease, rules) : null;
  const shelf = new Shelf(Number(options['hold-memory']) * 1e6, io.env.TMPDIR || undefined);
  const blobs = givenBlobs(context);
  const curator = new Curator({
    options: rules,
    pool: store ? new StorePool(store, rules.poolCapacity) : new MemoryPool(rules.poolCapacity, shelf),
    ledger: ledger ?? privateLedger,
    versions,
    hasScreenshot: blobs ? (sha256) => blobs.has(sha256) : undefined,
    shelf,
  });
  const batch = new RecordBatch(output.writer);
  const runId = options['run-id'] as string | undefined;
  const follows = options.follow === true;
  const loop = new CurationLoop({
    curator,
    versions,
    store,
    recovery: store && ledger && follows ? { store, ledger, curator, versions, options: rules, runId } : null,
    write: (record) => {
      if (isWarning(record)) logOf(context).warn(describeWarning(record));
      return batch.write(record);
    },
    flush: () => batch.flush(),
    onBadRecord: (error) => skipRecord(context, skipped, error),
    ...(cursor && { atEnd: () => closeRipe(curator, rules.groupTimeoutMs, cursor.before.state.newest, store) }),
    signal: io.signal,
  });
  return { loop, curator, versions, shelf };
}
