import type { Member } from './member.ts';
import { shuffledBy } from './order.ts';
import { isSuccess } from './success.ts';

/**
 * Trimming (design §8.4): at most `maxGroup` members, taken at random (by name, so the same in every run), but at least
 * one success and one failure of a group that has both: a trimmed group must not lose its signal. Order is kept.
 */
export function trimGroup(members: readonly Member[], maxGroup: number, groupId: string): Member[] {
  if (members.length <= maxGroup) return [...members];
  const shuffled = shuffledBy(members, (member) => `${groupId} ${member.trajectory.trajectory_id}`);
  // What the pool put in is the only success of its group: find it before anything else.
  const success = shuffled.find((member) => isSuccess(member.trajectory));
  const failure = shuffled.find((member) => !isSuccess(member.trajectory));
  const kept = new Set([success, failure].filter((member) => member !== undefined).slice(0, Math.max(maxGroup, 2)));
  for (const member of shuffled) {
    if (kept.size >= maxGroup) break;
    kept.add(member);
  }
  return members.filter((member) => kept.has(member));
}
