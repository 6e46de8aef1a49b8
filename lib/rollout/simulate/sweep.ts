import { utilisation } from '../usage.ts';
import { simulate } from './simulation.ts';
import type { SimulationOptions } from './simulation_options.ts';
import type { Workload } from './workload.ts';

export interface SweepPoint {
  desktops_per_worker: number;
  actions_per_minute_per_worker: number;
  worker_utilisation: number;
  /** Mean seconds from one action of a desktop to its next, reset and evaluation included. */
  seconds_per_action: number;
}

export interface Sweep {
  points: SweepPoint[];
  /** The least number of desktops with which a worker does nearly all that it can; null where the search ended before. */
  best: number | null;
  /** With fewer it is certain to do less. */
  atLeast: number;
}

/** A worker that does this share of its most is as good as full. */
const NEARLY = 0.95;
const WORKERS = 2;
const MOST = 256;

/**
 * How much a worker does with 1, 2, 3, 4, 6, 8, 12 … desktops each, without training. Ends where more desktops add less
 * than 1%, or at 256.
 */
export async function sweepDesktops(
  workload: Workload,
  options: Pick<SimulationOptions, 'seed' | 'seconds' | 'signal'>,
): Promise<Sweep> {
  const points: SweepPoint[] = [];
  let full = false;
  for (const desktops of counts()) {
    const size = { workload, desktops: WORKERS * desktops, workers: WORKERS };
    const { usage } = await simulate({ ...options, ...size, mode: 'async', sync: 'one', train: false });
    const { actions_per_minute, worker_utilisation } = utilisation(usage);
    points.push({
      desktops_per_worker: desktops,
      actions_per_minute_per_worker: actions_per_minute / WORKERS,
      worker_utilisation,
      seconds_per_action: (60 * WORKERS * desktops) / actions_per_minute,
    });
    full = flat(points);
    if (full) break;
  }
  const most = Math.max(...points.map((point) => point.actions_per_minute_per_worker));
  const { desktops_per_worker: atLeast } = points.find(
    (point) => point.actions_per_minute_per_worker >= NEARLY * most,
  )!;
  return { points, best: full ? atLeast : null, atLeast };
}

/** 1, 2, 3, 4, 6, 8, 12, 16, … */
function counts(): number[] {
  const list = [1];
  for (let power = 2; power <= MOST; power *= 2) list.push(power, power * 1.5);
  return list.filter((count) => count <= MOST);
}

/** Twice in a row next to nothing was gained: once may be chance. */
function flat(points: readonly SweepPoint[]): boolean {
  const rates = points.slice(-3).map((point) => point.actions_per_minute_per_worker);
  return rates.length === 3 && rates[1]! < 1.01 * rates[0]! && rates[2]! < 1.01 * rates[1]!;
}
