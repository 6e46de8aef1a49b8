import { simulate } from '../../../lib/rollout/simulate/simulation.ts';
import type { SimulationOptions } from '../../../lib/rollout/simulate/simulation_options.ts';
import type { Workload } from '../../../lib/rollout/simulate/workload.ts';
import { type UsageReading, utilisation } from '../../../lib/rollout/usage.ts';
import type { BenchMetric } from '../../../lib/stream/bench.ts';
import type { ClusterRun } from './cluster.ts';

/** Of one run; rates are in the workload's own time. */
export interface Measured {
  env_utilisation: number;
  worker_utilisation: number;
  actions_per_minute: number;
  updates_per_hour: number;
  /** Mean versions that learned groups were behind. */
  staleness: number;
}

type Name = keyof Measured;

/** DART's table: the coupled system, DART, and the gain as it is given there. */
const PAPER: Partial<Record<Name, [coupled: number, decoupled: number, gain: number]>> = {
  env_utilisation: [0.122, 0.677, 5.5],
  worker_utilisation: [0.296, 0.467, 1.6],
  actions_per_minute: [22.6, 43.6, 1.9],
};
const LABELS: Record<Name, string> = {
  env_utilisation: 'environment utilisation',
  worker_utilisation: 'worker (GPU) utilisation',
  actions_per_minute: 'actions/min',
  updates_per_hour: 'updates/h',
  staleness: 'staleness, versions',
};
/** What the simulator is held to. */
const COMPARED = ['env_utilisation', 'worker_utilisation', 'actions_per_minute'] as const;

/** What was measured of a run up to a reading of it. */
export function measuredOf({ updates }: ClusterRun, end: UsageReading, scale: number): Measured {
  const used = utilisation(end);
  const behind = updates.flatMap(({ staleness }) => staleness);
  return {
    env_utilisation: used.env_utilisation,
    worker_utilisation: used.worker_utilisation,
    actions_per_minute: used.actions_per_minute / scale,
    updates_per_hour: (3600 * updates.length) / (end.seconds * scale),
    staleness: behind.reduce((sum, versions) => sum + versions, 0) / Math.max(1, behind.length),
  };
}

/** What the simulator says of the same run. */
export async function simulated(
  workload: Workload,
  how: Pick<SimulationOptions, 'mode' | 'sync' | 'seconds' | 'updates'>,
): Promise<Measured> {
  const size = { desktops: workload.desktops.value, workers: workload.workers.value };
  const { usage, updates, staleness } = await simulate({ workload, ...size, seed: 0, ...how });
  const { env_utilisation, worker_utilisation, actions_per_minute } = utilisation(usage);
  const updates_per_hour = (3600 * updates) / usage.seconds;
  return { env_utilisation, worker_utilisation, actions_per_minute, updates_per_hour, staleness: staleness.mean ?? 0 };
}

interface Pair {
  coupled: Measured;
  decoupled: Measured;
}

/** All that is reported, gains and what the simulator says among it. */
export function figuresOf(real: Pair, model: Pair): BenchMetric[] {
  const { coupled, decoupled } = real;
  const ratio = (name: Name) => decoupled[name] / coupled[name];
  const gain = (name: string, of: Name, paper?: number): BenchMetric => ({
    name,
    value: ratio(of),
    unit: '×',
    ...(paper === undefined ? {} : { against: 'the gain in DART’s table', ratio: ratio(of) / paper }),
  });
  const both = (name: Name, unit: string): BenchMetric[] => [
    { name: `${name}/coupled`, value: coupled[name], unit },
    { name, value: decoupled[name], unit, against: 'coupled', ratio: ratio(name) },
  ];
  return [
    ...both('env_utilisation', 'share'),
    ...both('worker_utilisation', 'share'),
    ...both('actions_per_minute', 'actions/min'),
    ...both('updates_per_hour', 'updates/h'),
    gain('env_utilisation_gain', 'env_utilisation', PAPER.env_utilisation![2]),
    gain('worker_utilisation_gain', 'worker_utilisation', PAPER.worker_utilisation![2]),
    gain('throughput_gain', 'actions_per_minute', PAPER.actions_per_minute![2]),
    gain('updates_gain', 'updates_per_hour'),
    { name: 'staleness', value: decoupled.staleness, unit: 'versions' },
    ...COMPARED.flatMap((name) =>
      (['coupled', 'decoupled'] as const).map((mode) => ({
        name: `simulator/${name}/${mode}`,
        value: model[mode][name],
        unit: name === 'actions_per_minute' ? 'actions/min' : 'share',
        against: 'the real run',
        ratio: model[mode][name] / real[mode][name],
      })),
    ),
  ];
}

/** The table of the papers, and beside it what was measured and what the simulator says. */
export function tableOf(real: Pair, model: Pair): { head: string[]; rows: (string | null)[][] } {
  const cells = (name: Name, [coupled, decoupled]: readonly [number, number]) => {
    const show = (value: number) => (name.endsWith('utilisation') ? `${(100 * value).toFixed(1)}%` : value.toFixed(1));
    return [show(coupled), show(decoupled), coupled > 0 ? `${(decoupled / coupled).toFixed(1)}×` : '–'];
  };
  const rows = (Object.keys(LABELS) as Name[]).map((name) => {
    const paper = PAPER[name];
    return [
      LABELS[name],
      ...(paper ? cells(name, [paper[0], paper[1]]) : ['–', '–', '–']),
      ...cells(name, [real.coupled[name], real.decoupled[name]]),
      ...cells(name, [model.coupled[name], model.decoupled[name]]).slice(0, 2),
    ];
  });
  const head = ['', 'paper: coupled', 'DART', 'gain', 'here: coupled', 'decoupled', 'gain', 'simulated', 'simulated'];
  return { head, rows };
}
