import { advantages } from './advantage.ts';
import { type OpenGroup, usableMembers } from './group.ts';
import type { Member } from './member.ts';
import type { CurationOptions } from './options.ts';
import { type ExperiencePool, injectSuccess } from './pool.ts';
import type { GroupReason } from './reasons.ts';
import { trimGroup } from './trim.ts';
import { constantReward } from './variance.ts';

/** What becomes of a closed group. */
export interface Decision {
  group_id: string;
  run_id: string;
  task_id: string;
  size: number;
  /** Why it teaches nothing; null for a group to learn from. */
  reason: GroupReason | null;
  /** To learn from; empty when rejected. */
  members: Member[];
  /** One per member. */
  advantages: number[];
}

/** The rules of design §8 in their order: enough members, pool, variance, trimming, advantages. */
export async function decide(group: OpenGroup, options: CurationOptions, pool: ExperiencePool): Promise<Decision> {
  const scored = usableMembers(group).map((trajectory) => ({ trajectory, injected: false }));
  if (scored.length < options.minScored) return rejected(group, 'too_few_scored');
  const injection = await injectSuccess(scored, group.group_id, options.pool, pool);
  const constant = constantReward(rewardsOf(injection.members));
  if (constant !== null && !options.keepConstant) {
    return rejected(group, injection.wanted && constant === 'all_failed' ? 'no_success_stored' : constant);
  }
  const members =
    options.maxGroup === null ? injection.members : trimGroup(injection.members, options.maxGroup, group.group_id);
  return accepted(group, members, options);
}

/** A group with these members, weighed by the present options. */
export function accepted(
  group: Pick<OpenGroup, 'group_id' | 'run_id' | 'task_id' | 'size'>,
  members: Member[],
  options: Pick<CurationOptions, 'advantage' | 'advantageScope'>,
): Decision {
  const steps = members.map((member) => member.trajectory.steps.length);
  return {
    ...namesOf(group),
    reason: null,
    members,
    advantages: advantages(rewardsOf(members), options.advantage, options.advantageScope, steps),
  };
}

/** The decision that a group teaches nothing. */
export function rejected(
  group: Pick<OpenGroup, 'group_id' | 'run_id' | 'task_id' | 'size'>,
  reason: GroupReason,
): Decision {
  return { ...namesOf(group), reason, members: [], advantages: [] };
}

function namesOf({ group_id, run_id, task_id, size }: Pick<OpenGroup, 'group_id' | 'run_id' | 'task_id' | 'size'>) {
  return { group_id, run_id, task_id, size };
}

function rewardsOf(members: readonly Member[]): number[] {
  return members.map((member) => member.trajectory.reward);
}
