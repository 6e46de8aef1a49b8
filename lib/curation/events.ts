import { type Event, SCHEMA_VERSION, type Trajectory } from '../stream/records.ts';
import type { Decision } from './decide.ts';

/** Says on stdout why a trajectory is not learned from. */
export function trajectoryRejected(trajectory: Trajectory, reason: string): Event {
  return {
    type: 'event',
    v: SCHEMA_VERSION,
    event: 'trajectory_rejected',
    reason,
    trajectory_id: trajectory.trajectory_id,
    group_id: trajectory.group_id,
    run_id: trajectory.run_id,
    task_id: trajectory.task_id,
    ...(trajectory.error === undefined ? {} : { error: trajectory.error }),
  };
}

/** Says on stdout why a group is not learned from. */
export function groupRejected(decision: Decision, reason: string): Event {
  return {
    type: 'event',
    v: SCHEMA_VERSION,
    event: 'group_rejected',
    reason,
    group_id: decision.group_id,
    run_id: decision.run_id,
    task_id: decision.task_id,
  };
}
