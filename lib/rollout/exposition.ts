import { byLabel, type PrometheusMetric, single } from '../stream/prometheus.ts';
import { requestsRunning } from './metrics.ts';
import type { SessionStatus } from './status.ts';
import { utilisation } from './usage.ts';
import type { PartUsage } from './utilisation.ts';
import type { WorkerPool } from './worker_pool.ts';

/** The status of a run as Prometheus's metrics; see docs/observability.md. */
export function prometheusMetrics(status: SessionStatus): PrometheusMetric[] {
  const rates = utilisation(status.usage);
  return [
    info(status),
    gauge('uptime_seconds', 'Since the run began.', status.usage.seconds),
    ...trajectories(status),
    gauge('env_utilisation_ratio', 'Desktop time inside a live rollout, since the beginning.', rates.env_utilisation),
    gauge('worker_utilisation_ratio', 'Worker time with a request in flight.', rates.worker_utilisation),
    gauge('desktops', 'Desktops that are not retired.', status.running),
    counter('desktop_failures_total', 'Desktops that failed or could not be started.', status.desktopFailures),
    ...desktopEvents(status),
    ...times('desktop', 'env_id', 'a desktop', 'inside a live rollout', status.desktops),
    ...times('worker', 'worker', 'a worker', 'with a request in flight', status.workers),
    ...workerMetrics(status),
    gauge('model_version', 'The newest version that a worker answers with.', status.version),
    counter('syncs_total', 'Changes of version, of all workers.', status.syncs),
  ];
}

function info({ run_id, policy }: SessionStatus): PrometheusMetric {
  return {
    ...{ name: 'dart_rollout_run_info', type: 'gauge', help: 'Always 1; which run this is.' },
    samples: [{ labels: { run_id, policy }, value: 1 }],
  };
}

function trajectories({ tally, usage }: SessionStatus): PrometheusMetric[] {
  const outcomes = Object.entries(tally.outcomes);
  return [
    byLabel('dart_rollout_trajectories_total', 'counter', 'Trajectories delivered, by outcome.', 'outcome', outcomes),
    counter('scored_total', 'Trajectories with a reward.', tally.scored),
    counter('rewards_total', 'Sum of these rewards.', (tally.meanReward ?? 0) * tally.scored),
    gauge('success_ratio', 'Mean reward of the newest 100 scored trajectories.', tally.recentReward),
    counter('actions_total', 'Steps of trajectories that ended.', usage.actions),
    counter('parse_errors_total', 'Steps whose reply could not be read.', tally.parseErrors),
  ];
}

function desktopEvents({ desktopCounts: { booted, replaced, failures } }: SessionStatus): PrometheusMetric[] {
  const name = 'dart_rollout_desktop_failures_by_reason_total';
  return [
    byLabel(name, 'counter', 'The same, by where it failed.', 'reason', Object.entries(failures)),
    counter('desktops_booted_total', 'Desktops that became ready.', booted),
    counter('desktops_replaced_total', 'Of these: in the place of another one.', replaced),
  ];
}

/** Counters, so that the share over any stretch of time is `rate(busy) / rate(held)`. */
function times(
  part: string,
  label: string,
  what: string,
  used: string,
  list: readonly PartUsage[],
): PrometheusMetric[] {
  const by = (name: string, help: string, value: (one: PartUsage) => number) =>
    byLabel(
      `dart_rollout_${part}_${name}_seconds_total`,
      'counter',
      help,
      label,
      list.map((one) => [one.id, value(one)] as const),
    );
  return [
    by('held', `How long ${what} was held.`, (one) => one.held_s),
    by('busy', `How long ${what} was ${used}.`, (one) => one.busy_s),
  ];
}

/** Each worker and what it has to do: of a run, and of a service. */
export function workerMetrics({ workers, waiting }: Pick<WorkerPool, 'workers' | 'waiting'>): PrometheusMetric[] {
  const by = (name: string, help: string, value: (worker: WorkerPool['workers'][number]) => number) =>
    byLabel(
      `dart_rollout_${name}`,
      'gauge',
      help,
      'worker',
      workers.map((worker) => [worker.id, value(worker)] as const),
    );
  return [
    gauge('requests_running', 'Requests that workers have.', requestsRunning(workers)),
    gauge('requests_waiting', 'Requests that no worker could take yet.', waiting),
    by('worker_up', 'Whether a worker takes requests.', ({ state }) => (state === 'serving' ? 1 : 0)),
    by('worker_requests', 'Requests that a worker has.', ({ inFlight }) => inFlight),
    by('worker_version', 'Version of its weights.', ({ version }) => version),
  ];
}

function gauge(name: string, help: string, value: number | null): PrometheusMetric {
  return single(`dart_rollout_${name}`, 'gauge', help, value);
}

function counter(name: string, help: string, value: number): PrometheusMetric {
  return single(`dart_rollout_${name}`, 'counter', help, value);
}
