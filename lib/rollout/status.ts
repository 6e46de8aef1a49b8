import type { PoolCounts } from '../environment/pool_counts.ts';
import type { Tally } from './tally.ts';
import type { UsageReading } from './usage.ts';
import type { PartUsage } from './utilisation.ts';
import type { WorkerPool } from './worker_pool.ts';

/** Where a run stands. */
export interface SessionStatus {
  run_id: string;
  policy: string;
  /** The newest version that a worker answers with. */
  version: number;
  /** How often a worker has changed its version. */
  syncs: number;
  /** Of what has been delivered. It goes on changing. */
  tally: Tally;
  usage: UsageReading;
  /** Each desktop that ran, replaced ones included. */
  desktops: readonly PartUsage[];
  /** Desktops that are not retired. */
  running: number;
  desktopFailures: number;
  /** What has become of the desktops, by kind of event. */
  desktopCounts: PoolCounts;
  workers: readonly (PartUsage & WorkerPool['workers'][number])[];
  /** Requests that no worker could take yet. */
  waiting: number;
  /** Rollouts that have begun and have not ended. */
  under_way: number;
}
