import { DartError } from '../errors.ts';
import { counted } from '../stream/counted.ts';

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

/** What is to be said of a warm-up that so many updates do not get over; null where they do. */
export function warmupAdvice({ shape, warmup }: Schedule, updates: number): string | null {
  const falls = shape !== 'constant';
  if (warmup < updates || warmup === 0 || (warmup === updates && !falls)) return null;
  const never = warmup > updates ? 'the learning rate does not come to its peak' : 'the learning rate does not fall';
  return `--lr-warmup ${warmup}, and there are ${counted(updates, 'update')}: ${never}. Try: a shorter warm-up`;
}

/**
 * Learning rate of update number `update` (the first is 0): warm-up in equal parts, then flat, a line or half a cosine
 * down to `floor · lr` at `total`, and flat from there. The last of `total` updates is one step above the floor, as with
 * the schedules of transformers; theirs begin the warm-up at 0.
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
