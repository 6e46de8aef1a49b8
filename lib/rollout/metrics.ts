import { type Metric, SCHEMA_VERSION } from '../stream/records.ts';
import type { SessionStatus } from './status.ts';
import { utilisation } from './usage.ts';
import { type PartUsage, shareUsed } from './utilisation.ts';

/** Every metric of a run: unit and definition. `docs/metrics.md` has the same table, and a test compares them. */
export const ROLLOUT_METRICS = {
  'rollout/env_utilisation': [
    'share',
    'Desktop-seconds inside a live rollout (lease, reset, steps, evaluation) per desktop-second held',
  ],
  'rollout/env_utilisation/by_desktop': ['share', 'The same for the desktop in `env_id`'],
  'rollout/worker_utilisation': [
    'share',
    'Worker-seconds with a request in flight per worker-second held; null where none was held',
  ],
  'rollout/worker_utilisation/by_worker': [
    'share',
    'The same for the worker in `worker_id`; null where it was not held, as while it is down',
  ],
  'rollout/actions_per_minute': ['actions/min', 'Steps recorded per minute, of trajectories that ended'],
  'rollout/trajectories_per_minute': ['trajectories/min', 'Trajectories that ended per minute, errors included'],
  'rollout/trajectories': ['trajectories', 'Delivered since the run began'],
  'rollout/errors': ['trajectories', 'Of these: ended in an error, without a reward'],
  'rollout/success': ['score', 'Mean reward of the newest 100 scored trajectories'],
  'rollout/desktop_failures': ['failures', 'Desktops that failed or could not be started, since the run began'],
  'rollout/desktop_failures/by_reason': [
    'failures',
    'The same by `reason`: boot, setup (a step of a task before it), rollout, idle (nobody had it)',
  ],
  'rollout/desktops_booted': ['desktops', 'Desktops that became ready, since the run began'],
  'rollout/desktops_replaced': ['desktops', 'Of these: in the place of one that was used up or had failed'],
  'rollout/requests_running': ['requests', 'Requests that workers have at this moment'],
  'rollout/requests_waiting': ['requests', 'Requests that no worker could take yet'],
  'rollout/version': ['version', 'The newest version that a worker answers with'],
} as const satisfies Record<string, readonly [unit: string, definition: string]>;

export type RolloutMetric = keyof typeof ROLLOUT_METRICS;

/**
 * One record a number. Shares and rates are of the time between two looks (`before`: none, since the beginning); `elapsed_s`
 * is the time since the run began.
 */
export function metricRecords(now: SessionStatus, before: SessionStatus | null): Metric[] {
  const rates = utilisation(now.usage, before?.usage);
  const workersHeld = now.usage.worker_held_s - (before?.usage.worker_held_s ?? 0);
  const common = { run_id: now.run_id, elapsed_s: rounded(now.usage.seconds) };
  const record = (name: RolloutMetric, value: number | null, labels = {}): Metric => ({
    ...{ type: 'metric', v: SCHEMA_VERSION, name, value: value === null ? null : rounded(value) },
    ...{ unit: ROLLOUT_METRICS[name][0], ...labels, ...common },
  });
  const parts = (list: readonly PartUsage[], old: readonly PartUsage[] = []) => {
    const known = new Map(old.map((part) => [part.id, part]));
    return list.map((part) => ({ id: part.id, share: shareUsed(part, known.get(part.id)) }));
  };
  return [
    record('rollout/env_utilisation', rates.env_utilisation),
    ...parts(now.desktops, before?.desktops)
      // Of one that is long gone there is nothing new to say.
      .filter(({ share }) => share !== null)
      .map(({ id, share }) => record('rollout/env_utilisation/by_desktop', share, { env_id: id })),
    record('rollout/worker_utilisation', workersHeld > 0 ? rates.worker_utilisation : null),
    ...parts(now.workers, before?.workers).map(({ id, share }) =>
      record('rollout/worker_utilisation/by_worker', share, { worker_id: id }),
    ),
    record('rollout/actions_per_minute', rates.actions_per_minute),
    record('rollout/trajectories_per_minute', rates.trajectories_per_minute),
    record('rollout/trajectories', now.tally.trajectories),
    record('rollout/errors', now.tally.errors),
    record('rollout/success', now.tally.recentReward),
    record('rollout/desktop_failures', now.desktopFailures),
    ...Object.entries(now.desktopCounts.failures).map(([reason, count]) =>
      record('rollout/desktop_failures/by_reason', count, { reason }),
    ),
    record('rollout/desktops_booted', now.desktopCounts.booted),
    record('rollout/desktops_replaced', now.desktopCounts.replaced),
    record('rollout/requests_running', requestsRunning(now.workers)),
    record('rollout/requests_waiting', now.waiting),
    record('rollout/version', now.version),
  ];
}

/** Requests that workers have. */
export function requestsRunning(workers: readonly { inFlight: number }[]): number {
  return workers.reduce((sum, { inFlight }) => sum + inFlight, 0);
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
