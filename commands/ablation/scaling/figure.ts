import { simulate } from '../../../lib/rollout/simulate/simulation.ts';
import { arpoWorkload, EPOCH_ROLLOUTS } from './workload.ts';

/** Of so many desktops. Seconds of the workload. */
export interface ScalingPoint {
  desktops: number;
  /** Coupled: from the first reset of a batch to its last evaluation, mean of some batches. */
  batch: number;
  /** Coupled: as many batches as an epoch has. */
  epoch: number;
  /** Decoupled: an epoch's rollouts at the rate that the desktops give when nothing is waited for. */
  decoupledEpoch: number;
}

const BATCHES = 5;

/** What the simulator says. */
export async function simulatedPoint(desktops: number): Promise<ScalingPoint> {
  const workload = arpoWorkload(desktops);
  const common = { workload, desktops, workers: 1, seed: 1 };
  const coupled = await simulate({ ...common, mode: 'batch', sync: 'global', seconds: 1e9, updates: BATCHES });
  const batch = coupled.usage.seconds / coupled.updates;
  const seconds = 4 * 3600;
  const free = await simulate({ ...common, mode: 'async', sync: 'one', seconds, train: false });
  return pointOf(desktops, batch, free.usage.trajectories / free.usage.seconds);
}

/** A point of a batch's seconds and the decoupled rate in rollouts a second. */
export function pointOf(desktops: number, batch: number, rate: number): ScalingPoint {
  return { desktops, batch, epoch: (batch * EPOCH_ROLLOUTS) / desktops, decoupledEpoch: EPOCH_ROLLOUTS / rate };
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

/** Rollouts a second over the middle half of those that ended: neither the start nor the tail. */
export function middleRate(spans: readonly Span[]): number {
  const ends = spans.map(({ ended }) => ended).sort((a, b) => a - b);
  const [from, to] = [Math.floor(ends.length / 4), Math.floor((3 * ends.length) / 4)];
  return (1000 * (to - from)) / (ends[to]! - ends[from]!);
}
