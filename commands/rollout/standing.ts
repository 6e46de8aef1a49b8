import { durationWords } from '../../lib/report/trajectory/words.ts';
import type { SessionStatus } from '../../lib/rollout/status.ts';
import type { Tally } from '../../lib/rollout/tally.ts';
import { type UsageReading, type Utilisation, utilisation } from '../../lib/rollout/usage.ts';

/** Rates of progress are of about this stretch of time. */
const WINDOW_S = 60;
/** Without so many ended rollouts nobody knows how long the rest will take. */
const LEAST_FOR_ETA = 5;

/** Readings of about the last minute. */
export class RecentUsage {
  readonly #readings: UsageReading[] = [];

  /** Takes a reading, and gives the rates since the oldest one of the window. */
  rates(now: UsageReading): Utilisation {
    const from = this.#readings.find(({ seconds }) => now.seconds - seconds <= WINDOW_S);
    const rates = utilisation(now, from);
    this.#readings.push(now);
    while (this.#readings.length > 1 && now.seconds - this.#readings[0]!.seconds > WINDOW_S) this.#readings.shift();
    return rates;
  }
}

/**
 * Where a run stands, in one line: how much is done and how fast, how well, what is used, what failed, how long it takes.
 * @param total Rollouts that the run is to have; null where it goes on until it is told to stop.
 */
export function standing(status: SessionStatus, recent: RecentUsage, total: number | null): string {
  const { tally, usage } = status;
  const rates = recent.rates(usage);
  return [
    total === null ? `${tally.trajectories} trajectories` : `${tally.trajectories} of ${total} rollouts`,
    `${perMinute(rates.trajectories_per_minute)}/min`,
    ...qualities(tally, status.version),
    usedWords(rates),
    ...troubles(status),
    total === null ? '' : leftWords(total - tally.trajectories, tally),
  ]
    .filter(Boolean)
    .join(', ');
}

/** `success 0.45 over the last 100, version 3`. */
export function qualities(tally: Tally, version: number): string[] {
  const recent =
    tally.recentReward === null ? 'nothing scored' : `success ${tally.recentReward.toFixed(2)} over the last 100`;
  return [recent, `version ${version}`];
}

/** `desktops 85%, workers 47% used`. */
export function usedWords({ env_utilisation, worker_utilisation }: Utilisation): string {
  return `desktops ${share(env_utilisation)}, workers ${share(worker_utilisation)} used`;
}

function troubles({ tally, desktopFailures, workers, waiting }: SessionStatus): string[] {
  const down = workers.filter(({ state }) => state === 'out').length;
  return [
    tally.errors > 0 ? `${tally.errors} in error` : '',
    desktopFailures > 0 ? `${desktopFailures} desktop failures` : '',
    down > 0 ? `${down} of ${workers.length} workers down` : '',
    waiting > 0 ? `${waiting} requests waiting` : '',
  ];
}

function leftWords(left: number, tally: Tally): string {
  if (left <= 0 || tally.trajectories < LEAST_FOR_ETA) return '';
  return `about ${durationWords((left * tally.wallMs) / tally.trajectories)} left`;
}

function perMinute(rate: number): string {
  return rate < 10 ? rate.toFixed(1) : String(Math.round(rate));
}

function share(value: number): string {
  return `${Math.round(100 * value)}%`;
}
