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

/** What the simulator says, which always knows a batch and a rate. */
export interface SimulatedPoint extends ScalingPoint {
  batch: number;
  decoupledEpoch: number;
}

/** Simulates so many desktops, coupled and decoupled. */
export async function simulatedPoint(desktops: number): Promise<SimulatedPoint> {
  const workload = arpoWorkload(desktops);
  const common = { workload, desktops, workers: 1, seed: 1 };
  const coupled = await simulate({ ...common, mode: 'batch', sync: 'global', seconds: 1e9, updates: BATCHES });
  const batch = coupled.usage.seconds / coupled.updates;
  const seconds = 4 * 3600;
  const free = await simulate({ ...common, mode: 'async', sync: 'one', seconds, train: false });
  const rate = free.usage.trajectories / free.usage.seconds;
  return { ...pointOf(desktops, batch, rate), batch, decoupledEpoch: EPOCH_ROLLOUTS / rate };
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
 * and the number of ends in a window says where in a wave it begins. Of the rollouts that are under way at the end more are
 * long ones, so that a desktop is given about `lastRolloutBias` rollouts too many.
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

/** Above so many times what the workload says a figure is one of this machine's, and says nothing of the workload. */
export const MOST_SLOWDOWN = 1.25;

/** What was measured of so many desktops, in seconds of the workload. */
export interface Measured {
  batch: number;
  busy: BusyStretch;
}

type Simulated = Pick<SimulatedPoint, 'batch' | 'decoupledEpoch'>;

/** False for a batch that was one of a busy machine. */
export function isBatchSound(batch: number, simulated: Simulated): boolean {
  return batch <= MOST_SLOWDOWN * simulated.batch;
}

/** False for a decoupled run that was one of a busy machine. */
export function isBusySound({ seconds, rollouts }: BusyStretch, simulated: Simulated): boolean {
  return seconds * EPOCH_ROLLOUTS <= MOST_SLOWDOWN * simulated.decoupledEpoch * rollouts;
}

/** Why a real figure is not told: this machine was too slow for the batches, or for the decoupled run; or that is too short. */
export type Doubt = 'batch' | 'decoupled' | 'few';

/** What was measured as a point, without the figures that it does not hold. */
export function soundPoint(
  desktops: number,
  { batch, busy }: Measured,
  simulated: Simulated,
): { point: ScalingPoint; doubts: Doubt[] } {
  const doubts: Doubt[] = isBatchSound(batch, simulated) ? [] : ['batch'];
  if (!isBusySound(busy, simulated)) doubts.push('decoupled');
  else if (busy.rollouts < LEAST_ROLLOUTS * desktops) doubts.push('few');
  const told = doubts.includes('batch') ? null : batch;
  const rate = doubts.some((doubt) => doubt !== 'batch') ? null : busy.rollouts / busy.seconds;
  return { point: pointOf(desktops, told, rate), doubts };
}
