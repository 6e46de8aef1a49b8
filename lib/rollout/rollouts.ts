import { setMaxListeners } from 'node:events';
import type { EnvironmentPool, Release } from '../environment/pool.ts';
import { AnySignal } from '../stream/any_signal.ts';
import type { Trajectory } from '../stream/records.ts';
import { type EpisodeEnd, type EpisodeOptions, runEpisode } from './episode.ts';
import type { Scheduler, WorkItem } from './scheduler.ts';
import { trajectoryRecord } from './trajectory_record.ts';
import type { Usage } from './usage.ts';
import type { WorkerPool } from './worker_pool.ts';

/** A rollout whose desktop failed is tried on this many others before it is recorded as `env_error`. */
const RETRIES = 2;

export interface RolloutOptions {
  runId: string;
  scheduler: Scheduler;
  environments: EnvironmentPool;
  workers: WorkerPool;
  /** Told of what is in use. */
  usage?: Usage;
  episode: Omit<EpisodeOptions, 'policy'>;
  /** Takes each trajectory as it ends; what it awaits holds the desktops up, so that a slow reader is heard. */
  emit: (trajectory: Trajectory) => Promise<void>;
  /** Told of each rollout that is tried again. */
  onRetry?: (item: WorkItem, error: unknown) => void;
  /** No new rollout begins once this aborts; those under way go on. */
  stop: AbortSignal;
  /** Rollouts under way are abandoned when this aborts; they leave no record. */
  abort: AbortSignal;
}

/**
 * Keeps every desktop busy with the scheduler's items until there are none, or until told to stop.
 * @throws when no desktop or no policy worker is left, or when `emit` fails; the other rollouts are abandoned then.
 */
export async function runRollouts(options: RolloutOptions): Promise<void> {
  const broken = new AbortController();
  const either = new AnySignal([options.abort, broken.signal]);
  const abort = either.signal;
  // Every desktop may wait for something at the same time.
  setMaxListeners(0, abort);
  const { environments } = options;
  const lanes: Promise<void>[] = [];
  const open = (count: number) => {
    for (let i = 0; i < count; i++) {
      lanes.push(
        runLane(options, abort).catch((error: unknown) => {
          if (!broken.signal.aborted) broken.abort(error);
        }),
      );
    }
  };
  open(environments.size);
  environments.onGrowth(open);
  // Desktops that come later bring lanes of their own.
  for (let i = 0; i < lanes.length; i++) await lanes[i];
  environments.onGrowth(() => {});
  either.release();
  if (broken.signal.aborted && !options.abort.aborted) throw broken.signal.reason;
}

/** One desktop's worth of work: the next item begins as soon as the last one is over. */
async function runLane(options: RolloutOptions, abort: AbortSignal): Promise<void> {
  const { scheduler, stop } = options;
  while (!stop.aborted && !abort.aborted) {
    const item = await scheduler.next();
    if (item === null || stop.aborted) return;
    try {
      const trajectory = await runItem(item, options, abort);
      await options.emit(trajectory);
    } finally {
      scheduler.done(item);
    }
  }
}

async function runItem(item: WorkItem, options: RolloutOptions, abort: AbortSignal): Promise<Trajectory> {
  const { environments, workers, usage } = options;
  const started = new Date();
  for (let attempt = 0; ; attempt++) {
    const env = await environments.lease(abort);
    let end: EpisodeEnd | undefined;
    usage?.desktop(1, env.id);
    try {
      end = await runEpisode(item, env, { ...options.episode, policy: workers }, abort);
    } finally {
      usage?.desktop(-1, env.id);
      environments.release(env, releaseOf(end, abort));
    }
    if (end.desktop && attempt < RETRIES) {
      options.onRetry?.(item, end.desktop.error);
      continue;
    }
    usage?.ended(end.steps.length);
    return trajectoryRecord({
      item,
      end,
      runId: options.runId,
      envId: env.id,
      policy: { name: workers.name, coordinates: workers.coordinates },
      sampling: { ...options.episode.sampling, seed: options.episode.seed },
      started,
      finished: new Date(),
    });
  }
}

/** A desktop is given back as failed when it failed; one whose episode was abandoned is as good as any after a reset. */
function releaseOf(end: EpisodeEnd | undefined, abort: AbortSignal): Release {
  if (abort.aborted || !end?.desktop) return {};
  const { error, duringSetup } = end.desktop;
  return { failed: error, duringSetup };
}
