import { hash32 } from '../stream/random.ts';
import type { Trajectory } from '../stream/records.ts';
import type { Member } from './member.ts';
import { byAge } from './order.ts';
import { isSuccess, type Scored } from './success.ts';
import { moments } from './variance.ts';

/** Whether a stored success can be learned from. */
export type IsFit = (success: Trajectory) => boolean;

/** Stored successes, first in first out per task. In memory or in the store. */
export interface ExperiencePool {
  /** Takes successes in; @returns how many were new. */
  add(successes: readonly Trajectory[]): Promise<number>;
  /** The success of this task that came last, of those that fit (default: all). */
  newest(taskId: string, isFit?: IsFit): Promise<Trajectory | null>;
  /**
   * One of the stored successes of this task, the same for the same number of them and the same seed; one that does not
   * fit is passed over for the next older one, and after the oldest comes the newest.
   */
  any(taskId: string, seed: number, isFit?: IsFit): Promise<Trajectory | null>;
}

/**
 * The first that fits, from place `start` on downwards and around.
 * @param list names of stored successes, oldest first.
 */
export async function firstFit<T>(
  list: readonly T[],
  start: number,
  read: (name: T) => Promise<Trajectory | null>,
  isFit: IsFit = () => true,
): Promise<Trajectory | null> {
  for (let i = 0; i < list.length; i++) {
    const success = await read(list[(start - i + list.length) % list.length]!);
    if (success && isFit(success)) return success;
  }
  return null;
}

/** When and where a stored success enters a group. */
export const POOL_RULES = ['dart', 'arpo', 'off'] as const;
export type PoolRule = (typeof POOL_RULES)[number];

/** ARPO: replay where a group is almost constant and almost always fails. */
const ARPO_STD_BELOW = 0.05;
const ARPO_MEAN_BELOW = 0.2;

/** A group's members after the pool had its chance; `wanted` says that a success was looked for. */
export interface Injection {
  members: Member[];
  wanted: boolean;
}

/** @param members in order of rollout index, all scored. */
export async function injectSuccess(
  members: readonly Member[],
  groupId: string,
  rule: PoolRule,
  pool: ExperiencePool,
): Promise<Injection> {
  const place = placeFor(members, rule);
  if (place === null) return { members: [...members], wanted: false };
  const taskId = members[0]!.trajectory.task_id;
  const success = rule === 'arpo' ? await pool.any(taskId, hash32(groupId)) : await pool.newest(taskId);
  if (!success || success.reward === null) return { members: [...members], wanted: true };
  const injected: Member = { trajectory: success as Scored, injected: true };
  return { members: members.map((member, index) => (index === place ? injected : member)), wanted: true };
}

/** Index of the member that a stored success would replace; null where the group needs none. */
export function placeFor(members: readonly Member[], rule: PoolRule): number | null {
  if (rule === 'off' || members.length === 0) return null;
  return rule === 'arpo' ? arpoPlace(members) : dartPlace(members);
}

/** DART (trainable_filter.py): if every member failed, the oldest of them makes room. */
function dartPlace(members: readonly Member[]): number | null {
  if (members.some((member) => isSuccess(member.trajectory))) return null;
  const oldest = members.map((member) => member.trajectory).sort(byAge)[0];
  return members.findIndex((member) => member.trajectory === oldest);
}

/** ARPO (apply_replay): reward std below 0.05 and mean below 0.2; member 0 makes room. */
function arpoPlace(members: readonly Member[]): number | null {
  const { mean, std } = moments(members.map((member) => member.trajectory.reward));
  return std < ARPO_STD_BELOW && mean < ARPO_MEAN_BELOW ? 0 : null;
}
