import { DartError } from '../errors.ts';

export type ScheduleShape = 'constant' | 'linear' | 'cosine';

export interface Schedule {
  shape: ScheduleShape;
  /** Peak learning rate. */
  lr: number;
  /** Updates over which the rate climbs from lr/warmup to lr. */
  warmup: number;
  /** Updates until the rate has fallen to its floor; needed by linear and cosine. */
  total: number | null;
  /** The floor, as a share of lr. */
  floor: number;
}

/**
 * Learning rate of update number `update` (the first is 0): warm-up in equal parts, then flat, a line or half a cosine
 * down to `floor · lr` at `total`, and flat from there.
 */
export function learningRate(schedule: Schedule, update: number): number {
  const { shape, lr, warmup, total, floor } = schedule;
  if (update < warmup) return (lr * (update + 1)) / warmup;
  if (shape === 'constant') return lr;
  if (total === null) {
    throw new DartError(`a ${shape} learning-rate schedule needs to know how many updates there will be`, {
      hint: '--lr-total-updates N or --max-updates N',
    });
  }
  const progress = Math.min(1, (update - warmup) / Math.max(1, total - warmup));
  const left = shape === 'linear' ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2;
  return lr * (floor + (1 - floor) * left);
}
