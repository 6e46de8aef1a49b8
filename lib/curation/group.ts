import type { Trajectory } from '../stream/records.ts';
import type { TrajectoryReason } from './reasons.ts';
import type { Held } from './shelf.ts';
import { isScored, type Scored } from './success.ts';

/** A group whose rollouts are still coming in. */
export interface OpenGroup {
  group_id: string;
  run_id: string;
  task_id: string;
  /** Rollouts planned together. */
  size: number;
  /** What is known of each member, by rollout index. */
  members: Map<number, OpenMember>;
  /** When the last member came, on the clock of the caller. */
  touched: number;
}

export interface OpenMember extends Held {
  /** Why it is not used; null for one that is. */
  unusable: TrajectoryReason | null;
}

/** An incomplete group as one run leaves it to the next. */
export interface CarriedGroup extends Pick<OpenGroup, 'group_id' | 'run_id' | 'task_id' | 'size'> {
  members: (OpenMember & { rollout_index: number })[];
}

/** What happened to a trajectory that was offered to a group. */
export type Joined = 'joined' | 'duplicate' | 'other_task';

/** A group without members yet, as its first trajectory describes it. */
export function openGroup(trajectory: Trajectory, touched: number): OpenGroup {
  return {
    group_id: trajectory.group_id,
    run_id: trajectory.run_id,
    task_id: trajectory.task_id,
    size: Math.max(1, trajectory.group_size),
    members: new Map(),
    touched,
  };
}

/**
 * Adds a member. A rollout that failed and was tried again comes twice under one index: what can be used takes the
 * place of what cannot, and the first of two usable ones stays.
 */
export function join(group: OpenGroup, trajectory: Trajectory, unusable: TrajectoryReason | null, now: number): Joined {
  if (trajectory.task_id !== group.task_id) return 'other_task';
  const present = group.members.get(trajectory.rollout_index);
  if (present && (present.unusable === null || unusable !== null)) return 'duplicate';
  // Of what cannot be used only its coming counts.
  const held = unusable === null ? trajectory : { ...trajectory, steps: [] };
  group.members.set(trajectory.rollout_index, { trajectory: held, unusable });
  group.size = Math.max(group.size, trajectory.group_size);
  group.touched = now;
  return 'joined';
}

/**
 * Group closing (design §8.2): each planned member has come, scored or failed. The size is the number that was planned
 * for this task at that time, never a constant: with a dynamic rollout number it is 2 to 8.
 */
export function isComplete(group: OpenGroup): boolean {
  return group.members.size >= group.size;
}

/** The members that can be learned from, in order of rollout index. */
export function usableMembers(group: OpenGroup): Scored[] {
  return [...group.members.entries()]
    .sort(([a], [b]) => a - b)
    .filter(([, member]) => member.unusable === null)
    .map(([, member]) => member.trajectory)
    .filter(isScored);
}

/** When the last of its members had finished, milliseconds since 1970. */
export function lastFinish(group: OpenGroup): number {
  return Math.max(...[...group.members.values()].map((member) => Date.parse(member.trajectory.finished_at)));
}
