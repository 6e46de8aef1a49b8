import type { Trajectory } from '../stream/records.ts';
import type { TrajectoryReason } from './reasons.ts';

/**
 * Why a trajectory cannot be learned from whatever its group is, or null. An error is never a reward of 0: a desktop
 * that broke or an evaluator that failed says nothing about the policy (DART marks them −1 and −2; here they have no
 * reward). A rollout without steps has nothing to learn from.
 */
export function unusable(trajectory: Trajectory): TrajectoryReason | null {
  const { outcome } = trajectory;
  if (outcome === 'policy_error' || outcome === 'env_error' || outcome === 'evaluator_error') return outcome;
  if (trajectory.reward === null) return 'unscored';
  if (trajectory.group_id === '') return 'no_group';
  if (trajectory.steps.length === 0) return 'no_steps';
  return null;
}
