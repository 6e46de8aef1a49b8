/**
 * Everything that curation says in events: one table for the code, for `dart-curate explain` and for docs/curation.md,
 * which a test compares with it. Each reason has what it means and what to do about it.
 */
export interface Meaning {
  means: string;
  try: string;
}

/** Why a trajectory is not learned from (`trajectory_rejected`). */
export const TRAJECTORY_REASONS = {
  policy_error: {
    means: 'the policy failed: a server that did not answer, a reply that could not be had',
    try: 'look at the error field and at the policy server',
  },
  env_error: {
    means: 'the desktop failed, so nobody knows what the policy would have reached',
    try: 'look at the error field; dart-env doctor tries a desktop; the table environment of the store says which ones failed',
  },
  evaluator_error: {
    means: "the task's evaluator failed, so there is no reward",
    try: 'look at the error field; dart-env tasks checks evaluators',
  },
  unscored: {
    means: 'the outcome is no error but the reward is null',
    try: 'the writer of the trajectory should give a reward from 0 to 1',
  },
  no_group: {
    means: 'the trajectory belongs to no group, so there is nothing to compare it with',
    try: 'dart-curate pool add, where it is a success to keep',
  },
  no_steps: { means: 'the rollout ended before its first step', try: 'look at the error field' },
  missing_screenshot: {
    means: 'a screenshot of a step is not in the --blobs folder',
    try: 'the --blobs folder that the rollouts wrote to',
  },
  stale: {
    means: 'its oldest model version is more than --max-staleness behind when its group closes',
    try: 'a larger --max-staleness, or fewer rollouts under way for one trainer',
  },
  late: {
    means: 'its group was closed before it came',
    try: 'a larger --group-timeout',
  },
  duplicate: { means: 'the same member of the group had come already', try: 'nothing: it is counted once' },
  other_task: {
    means: 'its group has rollouts of another task',
    try: 'group ids that name one task each',
  },
  trimmed: {
    means: 'its group had more than --max-group members and it was drawn to go',
    try: 'a larger --max-group',
  },
} as const satisfies Record<string, Meaning>;

/** Why a group is not handed on (`group_rejected`). */
export const GROUP_REASONS = {
  too_few_scored: {
    means: 'fewer than --min-scored (2) members have a reward and are recent enough',
    try: 'look at the trajectory_rejected events of the group',
  },
  all_failed: {
    means: 'every member has reward 0 and the pool is off',
    try: 'without --no-pool a stored success takes the place of the oldest failure',
  },
  no_success_stored: {
    means: 'every member failed and the pool has no success of this task',
    try: 'dart-curate pool add or dart-curate import, with a success of the task',
  },
  all_succeeded: {
    means: 'every member has reward 1: nothing left to learn',
    try: 'nothing: the next groups of the task are smaller',
  },
  no_variance: {
    means: 'all members have the same reward between 0 and 1, so all advantages are 0',
    try: 'more rollouts a group, or a finer reward',
  },
  stale: {
    means: 'it was decided earlier, never learned from, and is too old by now',
    try: 'a trainer that keeps up, or a larger --max-staleness',
  },
  missing_screenshot: {
    means: 'it was decided earlier and a screenshot of a member is not in the --blobs folder',
    try: 'the --blobs folder that the rollouts wrote to; the group comes again when its lease has run out',
  },
  already_learned: { means: 'a published version has been learned from it', try: 'nothing: it is learned once' },
  held_elsewhere: {
    means: 'another process has handed it on and its lease has not run out',
    try: 'wait --lease seconds, or stop the other dart-curate',
  },
  handed_on: { means: 'this process has handed it on already', try: 'nothing: it is handed on once' },
} as const satisfies Record<string, Meaning>;

/** Why a record is left out before it is a trajectory (`record_rejected`, with --on-error skip). */
export const RECORD_REASONS = {
  bad_record: {
    means: 'the line is no record: cut short, too long, not JSON, or not as its schema says',
    try: 'the message field; --on-error fail ends at the first one',
  },
} as const satisfies Record<string, Meaning>;

/** Events that are no rejections. */
export const NOTICES = {
  success_injected: {
    means: 'a stored success took the place of a member: trajectory_id for replaced',
    try: 'nothing; steps_without_logprobs of its steps are learned from with importance weight 1',
  },
  success_passed_over: {
    means:
      'a stored success cannot be learned from (reason: missing_screenshot or no_steps); the next one is looked at',
    try: 'missing_screenshot: the --blobs folder with its screenshots too; dart-curate pool prune takes it out',
  },
  sampler_bias: {
    means: 'the sampler cut or bent the distribution (settings), so its log-probabilities are not the policy’s',
    try: 'top_p 1, no top_k, no penalties while sampling for training',
  },
} as const satisfies Record<string, Meaning>;

export type TrajectoryReason = keyof typeof TRAJECTORY_REASONS;
export type GroupReason = keyof typeof GROUP_REASONS;

/** What to do about a reason; undefined for one that this table does not know. */
export function adviceFor(reason: string): string | undefined {
  const all: Record<string, Meaning> = { ...TRAJECTORY_REASONS, ...GROUP_REASONS };
  return all[reason]?.try;
}
