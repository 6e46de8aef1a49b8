import type { DartError } from '../errors.ts';
import { type AnyRecord, type Event, SCHEMA_VERSION, type Trajectory } from '../stream/records.ts';
import type { Decision } from './decide.ts';
import type { PassedOver } from './fit-pool.ts';
import type { GroupReason, TrajectoryReason } from './reasons.ts';

type Names = Pick<Decision, 'group_id' | 'run_id' | 'task_id'>;

/** Says on stdout why a trajectory is not learned from. */
export function trajectoryRejected(trajectory: Trajectory, reason: TrajectoryReason): Event {
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
export function groupRejected(decision: Decision, reason: GroupReason): Event {
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

/** Says on stdout that a stored success could not help a group, and why. */
export function successPassedOver(group: Names, { success, reason }: PassedOver): Event {
  return {
    type: 'event',
    v: SCHEMA_VERSION,
    event: 'success_passed_over',
    reason,
    trajectory_id: success.trajectory_id,
    group_id: group.group_id,
    run_id: group.run_id,
    task_id: group.task_id,
  };
}

/** Says on stdout which line is left out (`--on-error skip`), and why. */
export function recordRejected(error: DartError): Event {
  return {
    type: 'event',
    v: SCHEMA_VERSION,
    event: 'record_rejected',
    reason: 'bad_record',
    where: error.where ?? null,
    message: error.message,
  };
}

/** Says that the pool put a success into a group; `replaced` is the member whose place it took, where that is known. */
export function successInjected(
  decision: Decision,
  trajectoryId: string,
  replaced: string | null,
  stepsWithoutLogprobs: number,
): Event {
  return {
    type: 'event',
    v: SCHEMA_VERSION,
    event: 'success_injected',
    group_id: decision.group_id,
    run_id: decision.run_id,
    task_id: decision.task_id,
    trajectory_id: trajectoryId,
    replaced,
    steps_without_logprobs: stepsWithoutLogprobs,
  };
}

/** Says that log-probabilities of this run and policy are biased by the sampler's settings. */
export function samplerBias(trajectory: Trajectory, settings: readonly string[]): Event {
  return {
    type: 'event',
    v: SCHEMA_VERSION,
    event: 'sampler_bias',
    run_id: trajectory.run_id,
    policy: trajectory.policy.name,
    settings: [...settings],
  };
}

/** True for events that a person should hear of, too. */
export function isWarning(record: AnyRecord): boolean {
  return record.type === 'event' && record.event === 'sampler_bias';
}
