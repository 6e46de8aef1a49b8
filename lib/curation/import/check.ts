import { DartError } from '../../errors.ts';
import type { Trajectory } from '../../stream/records.ts';

/**
 * A trajectory whose outcome and reward go together, handed back as it is: an error has no reward, everything else has.
 * @throws DartError where they contradict each other.
 */
export function checkTrajectory(trajectory: Trajectory, where: string): Trajectory {
  const { outcome, reward, trajectory_id } = trajectory;
  const failed = outcome.endsWith('_error');
  if (!failed && reward === null) {
    throw new DartError(`trajectory ${trajectory_id} has the outcome "${outcome}" but no reward`, {
      where,
      hint: 'a reward from 0 to 1, or the outcome evaluator_error',
    });
  }
  if (failed && reward !== null) {
    throw new DartError(`trajectory ${trajectory_id} has the reward ${reward} although it ended in ${outcome}`, {
      where,
      hint: 'reward null: an error is never a reward',
    });
  }
  return trajectory;
}
