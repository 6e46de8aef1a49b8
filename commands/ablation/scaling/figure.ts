import { simulate } from '../../../lib/rollout/simulate/simulation.ts';
import { arpoWorkload, EPOCH_ROLLOUTS } from './workload.ts';

/** Of so many desktops. Seconds of the workload; null where what was measured does not say. */
export interface ScalingPoint {
  desktops: number;
  /** Coupled: from the first reset of a batch to its last evaluation, mean of some batches. */
  batch: number | null;
  /** Coupled: as many batches as an epoch has. */
  epoch: number | null;
  /** Decoupled: an epoch's rollouts at the rate that the desktops give when nothing is waited for. */
  decoupledEpoch: number | null;
}

const BATCHES = 5;

/** What the simulator says; the batch is never null. */
export async function simulatedPoint(desktops: number): Promise<ScalingPoint & { batch: number }> {
  const workload = arpoWorkload(desktops);
  const common = { workload, desktops, workers: 1, seed: 1 };
  const coupled = await simulate({ ...common, mode: 'batch', sync: 'global', seconds: 1e9, updates: BATCHES });
  const batch = coupled.usage.seconds / coupled.updates;
  const seconds = 4 * 3600;
  const free = await simulate({ ...common, mode: 'async', sync: 'one', seconds, train: false });
  return { ...pointOf(desktops, batch, free.usage.trajectories / free.usage.seconds), batch };
}

/** A point of a batch's seconds and the decoupled rate in rollouts a second. */
export function pointOf(desktops: number, batch: number | null, rate: number | null): ScalingPoint {
  return {
    ...{ desktops, batch },
    epoch: batch === null ? null : (batch * EPOCH_ROLLOUTS) / desktops,
    decoupledEpoch: rate === null ? null : EPOCH_ROLLOUTS / rate,
  };
}

/** A rollout's beginning and end in milliseconds. */
export interface Span {
  began: number;
  ended: number;
}

/** Mean seconds of a batch, of so many that came one after another. */
export function batchSeconds(spans: readonly Span[], batches: number): number {
  const first = Math.min(...spans.map(({ began }) => began));
  const last = Math.max(...spans.map(({ ended }) => ended));
  return (last - first) / 1000 / batches;
}

/** Rollouts while every desktop had work. */
export interface BusyStretch {
  seconds: number;
  /** Of a rollout that ends later only the part before counts. */
  rollouts: number;
}

/**
 * The stretch from the first beginning of a rollout to the last: after that desktops find nothing to do. Ends are not
 * counted but parts of rollouts: desktops that begin together end together, so that a few rollouts of each come in waves,
 * and the number of ends in a window says where in a wave it begins.
 */
export function busyStretch(spans: readonly Span[]): BusyStretch {
  const begins = spans.map(({ began }) => began);
  const [from, to] = [Math.min(...begins), Math.max(...begins)];
  const part = ({ began, ended }: Span) => (ended <= to ? 1 : (to - began) / (ended - began));
  const rollouts = spans.reduce((sum, span) => sum + part(span), 0);
  return { seconds: (to - from) / 1000, rollouts };
}

/** With fewer rollouts of each desktop there is no rate: it would be of one or two waves and their ends. */
export const LEAST_ROLLOUTS = 1.5;

/** Above so many times what the workload says a batch is one of this machine's, and says nothing of the workload. */
export const MOST_SLOWDOWN = 1.25;

/** What was measured of so many desktops, in seconds of the workload. */
export interface Measured {
  batch: number;
  busy: BusyStretch;
}

/** Why a real figure is not told. */
export type Doubt = 'machine' | 'few';

/** What was measured as a point, without the figures that it does not hold; `simulated` is the batch of the workload. */
export function soundPoint(
  desktops: number,
  { batch, busy }: Measured,
  simulated: number,
): { point: ScalingPoint; doubts: Doubt[] } {
  if (batch > MOST_SLOWDOWN * simulated) return { point: pointOf(desktops, null, null), doubts: ['machine'] };
  const few = busy.rollouts < LEAST_ROLLOUTS * desktops;
  return { point: pointOf(desktops, batch, few ? null : busy.rollouts / busy.seconds), doubts: few ? ['few'] : [] };
}
