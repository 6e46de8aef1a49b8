import type { Trajectory } from '../stream/records.ts';
import type { ExperiencePool } from './pool.ts';

/** Why a stored success cannot be learned from, or null. */
export type Unfit = (success: Trajectory) => 'missing_screenshot' | 'no_steps' | null;

/** A stored success that was passed over, and why. */
export interface PassedOver {
  success: Trajectory;
  reason: NonNullable<ReturnType<Unfit>>;
}

/**
 * The pool as one group sees it: successes that cannot be learned from are passed over for the next, and listed in
 * `passedOver`. A sample of one would end the trainer, or teach it nothing.
 */
export function fitPool(pool: ExperiencePool, unfit: Unfit, passedOver: PassedOver[]): ExperiencePool {
  const isFit = (success: Trajectory) => {
    const reason = unfit(success);
    if (reason !== null) passedOver.push({ success, reason });
    return reason === null;
  };
  return {
    add: (successes) => pool.add(successes),
    newest: (taskId) => pool.newest(taskId, isFit),
    any: (taskId, seed) => pool.any(taskId, seed, isFit),
  };
}
