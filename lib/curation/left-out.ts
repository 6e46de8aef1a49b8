import type { Decision } from './decide.ts';
import { type PoolRule, placeFor } from './pool.ts';
import type { Scored } from './success.ts';

/** What a decision made of the members that could be used. */
export interface LeftOut {
  /** The member whose place a stored success took. */
  replaced: Scored | null;
  /** Members that were drawn to go because the group was too large. */
  trimmed: Scored[];
}

/**
 * Members that a group had and that its decision does not have. Found by comparison, so that it also holds for a
 * decision that an earlier run has made.
 * @param usable what the group had, in order of rollout index.
 */
export function leftOut(usable: readonly Scored[], decision: Decision, rule: PoolRule): LeftOut {
  const kept = new Set(decision.members.map((member) => member.trajectory.trajectory_id));
  const missing = usable.filter((trajectory) => !kept.has(trajectory.trajectory_id));
  const hasInjected = decision.members.some((member) => member.injected);
  const members = usable.map((trajectory) => ({ trajectory, injected: false }));
  const place = hasInjected ? placeFor(members, rule) : null;
  const replaced = place === null ? null : (missing.find((one) => one === usable[place]) ?? null);
  return { replaced, trimmed: missing.filter((one) => one !== replaced) };
}
