import type { AnyRecord } from '../stream/records.ts';
import { binned } from './sparkline.ts';
import { trainingMetric } from './training_metric.ts';

/** What the points of a plot are placed by. */
export type PlotAxis = 'update' | 'tokens' | 'wall';

export interface PlotPoint {
  x: number;
  y: number;
}

/** One metric of one run, in the order of its updates. */
export interface PlotSeries {
  metric: string;
  run: string;
  unit: string;
  points: readonly PlotPoint[];
}

export const AXIS_TITLES: Readonly<Record<PlotAxis, string>> = {
  update: 'update',
  tokens: 'tokens learned from',
  wall: 'seconds of updates and waiting',
};

/** The metrics whose sum over the updates is the place on an axis. */
const SUMMED: Readonly<Record<Exclude<PlotAxis, 'update'>, readonly string[]>> = {
  tokens: ['train/tokens'],
  wall: ['train/update_s', 'train/wait_s'],
};

/** Points of one curve that a picture has at most; of more, neighbours are drawn as their mean. */
const MOST_POINTS = 300;

/**
 * The metric records of one run, by metric and update. An update number that comes again, after a restart that lost it,
 * takes the place of the earlier one.
 */
export class MetricRun {
  readonly name: string;
  readonly #metrics = new Map<string, { unit: string; values: Map<number, number | null> }>();

  constructor(name: string) {
    this.name = name;
  }

  /** Takes a record that tells a number of an update; false for any other. */
  add(record: AnyRecord): boolean {
    const told = trainingMetric(record);
    if (told === null) return false;
    const { name, value, update, unit } = told;
    const metric = this.#metrics.get(name) ?? { unit, values: new Map() };
    metric.values.set(update, value);
    this.#metrics.set(name, metric);
    return true;
  }

  /** Metrics of which at least one value is known, in the order in which they came. */
  get metrics(): string[] {
    return [...this.#metrics]
      .filter(([, { values }]) => [...values.values()].some((v) => v !== null))
      .map(([name]) => name);
  }

  /** The known values of a metric along an axis; null where the run has nothing to place them by. */
  series(metric: string, axis: PlotAxis): PlotSeries | null {
    const { unit = '', values } = this.#metrics.get(metric) ?? {};
    const place = this.#places(axis);
    if (place === null) return null;
    const known = [...(values ?? [])].filter((entry): entry is [number, number] => entry[1] !== null);
    const points = known.sort(([a], [b]) => a - b).map(([update, y]) => ({ x: place(update), y }));
    return { metric, run: this.name, unit, points };
  }

  #places(axis: PlotAxis): ((update: number) => number) | null {
    if (axis === 'update') return (update) => update;
    const summed = SUMMED[axis].map((name) => this.#metrics.get(name)?.values);
    if (!summed.some((values) => values !== undefined)) return null;
    const updates = [...new Set([...this.#metrics.values()].flatMap(({ values }) => [...values.keys()]))];
    const places = new Map<number, number>();
    let sum = 0;
    for (const update of updates.sort((a, b) => a - b)) {
      for (const values of summed) sum = Math.min(Number.MAX_VALUE, sum + (values?.get(update) ?? 0));
      places.set(update, sum);
    }
    return (update) => places.get(update)!;
  }
}

/**
 * The exponential moving average of a curve, as TensorBoard shows it: corrected for beginning at nothing, so that the
 * first point stays where it is.
 * @param weight Share that the past has in each point, 0 to below 1; 0 changes nothing.
 */
export function smoothed(points: readonly PlotPoint[], weight: number): PlotPoint[] {
  let [sum, share] = [0, 0];
  return points.map(({ x, y }) => {
    sum = weight * sum + (1 - weight) * y;
    share = weight * share + (1 - weight);
    return { x, y: sum / share };
  });
}

/** At most 300 points: of more, the means of neighbours. */
export function thinned(points: readonly PlotPoint[]): PlotPoint[] {
  const ys = binned(
    points.map(({ y }) => y),
    MOST_POINTS,
  );
  const xs = binned(
    points.map(({ x }) => x),
    MOST_POINTS,
  );
  return xs.map((x, i) => ({ x, y: ys[i]! }));
}

/** First, last, least and largest value of a series that has points. */
export function rangeOf({ points }: PlotSeries): { first: number; last: number; min: number; max: number } {
  const ys = points.map(({ y }) => y);
  const extreme = (pick: (a: number, b: number) => number) => ys.reduce((a, b) => pick(a, b));
  return { first: ys[0]!, last: ys.at(-1)!, min: extreme(Math.min), max: extreme(Math.max) };
}
