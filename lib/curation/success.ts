import type { Trajectory } from '../stream/records.ts';

/** A trajectory that has a reward. */
export type Scored = Trajectory & { reward: number };

/** A reward above this is a success: for the pool, for trimming and for "every member failed" (KTO's line too). */
export const SUCCESS_ABOVE = 0.5;

export function isScored(trajectory: Trajectory): trajectory is Scored {
  return trajectory.reward !== null;
}

export function isSuccess(trajectory: Trajectory): boolean {
  return trajectory.reward !== null && trajectory.reward > SUCCESS_ABOVE;
}
