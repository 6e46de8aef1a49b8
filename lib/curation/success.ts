import type { Trajectory } from '../stream/records.ts';

/** A trajectory that has a reward. */
export type Scored = Trajectory & { reward: number };

/** A reward above this is a success: for the pool, for trimming and for "every member failed" (KTO's line too). */
export const SUCCESS_ABOVE = 0.5;

/** True where there is a reward: an error is not a reward of 0. */
export function isScored(trajectory: Trajectory): trajectory is Scored {
  return trajectory.reward !== null;
}

/** True for a success that others may learn from: it has steps, and no error says that its reward means nothing. */
export function isExperience(trajectory: Trajectory): boolean {
  return isSuccess(trajectory) && trajectory.steps.length > 0 && !trajectory.outcome.endsWith('_error');
}

/** True above `SUCCESS_ABOVE`; false without a reward. */
export function isSuccess(trajectory: Trajectory): boolean {
  return trajectory.reward !== null && trajectory.reward > SUCCESS_ABOVE;
}
