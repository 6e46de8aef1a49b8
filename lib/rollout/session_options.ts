import type { EnvironmentPool } from '../environment/pool.ts';
import type { Store } from '../store/index.ts';
import type { BlobStore } from '../stream/blobs.ts';
import type { Sampling, Trajectory } from '../stream/records.ts';
import type { EpisodeOptions } from './episode.ts';
import type { RolloutServers } from './open_servers.ts';
import type { SessionStatus } from './status.ts';
import type { Stopping } from './stopping.ts';
import type { Tally } from './tally.ts';
import type { UsageReading } from './usage.ts';
import type { PartUsage } from './utilisation.ts';
import type { WorkPlan } from './work_plan.ts';

export interface SessionOptions extends WorkPlan {
  environments: EnvironmentPool;
  /** A policy specification, and as how many workers to open it. */
  policy: string;
  workers: number;
  threads?: number;
  /** For policies behind servers. */
  servers?: RolloutServers;
  /** See WorkerPoolOptions: how to go on is a matter of the command's options. */
  whenNoneLeft?: string;
  /** The first rollout that ends in an error ends the run, instead of being recorded and counted. */
  failFast?: boolean;
  /** How long a batch waits for the version learned from the last one, before it goes on with the old. */
  versionWaitMs: number;
  /** Workers change versions one at a time, all together, or never. */
  sync: 'one' | 'global' | 'off';
  syncIntervalMs: number;
  successWindow: number;
  sampling: Sampling;
  onParseError: 'observe' | 'fail';
  failAtLimit: boolean;
  assetsDir?: string | null;
  assetCache?: EpisodeOptions['assetCache'];
  bridge?: EpisodeOptions['bridge'];
  fidelity?: EpisodeOptions['fidelity'];
  /** Null: screenshots are named by their hash but kept nowhere. */
  blobs: Pick<BlobStore, 'putSync'>;
  store: Store | null;
  /** Kept with the run in the store. */
  config?: unknown;
  /** Takes each trajectory, in order, after the store has it; with its JSON (`wellFormedJson`) where the store got that. */
  write: (trajectory: Trajectory, json?: string) => Promise<void>;
  notes: SessionNotes;
  stopping: Stopping;
}

/** What a session tells while it runs. */
export interface SessionNotes {
  /** @param kind of what there may be thousands of: what they are called together. */
  warn(message: string, kind?: string): void;
  info(message: string): void;
  progress(tally: Tally, version: number): void;
  /** What is used of desktops and workers, every so many ms; not asked for: never. */
  usage?: { everyMs: number; take: (reading: UsageReading) => void };
  /** Told once, when the run begins, how to look at where it stands. */
  status?: (read: () => SessionStatus) => void;
  /** The run is going to fail, and this is what came of it until then: what has ended is written. */
  failed?: (end: SessionEnd) => void;
}

export interface SessionEnd {
  tally: Tally;
  policy: string;
  version: number;
  syncs: number;
  usage: UsageReading;
  /** Of each desktop and each worker. */
  desktops: PartUsage[];
  workers: PartUsage[];
}
