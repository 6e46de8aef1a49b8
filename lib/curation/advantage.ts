import { moments } from './variance.ts';

export const ADVANTAGES = ['grpo', 'dr_grpo', 'rloo'] as const;
export const ADVANTAGE_SCOPES = ['trajectory', 'step'] as const;

export type AdvantageKind = (typeof ADVANTAGES)[number];
export type AdvantageScope = (typeof ADVANTAGE_SCOPES)[number];

const EPSILON = 1e-6;

/**
 * Group-relative advantages, one per trajectory (design §8.5).
 *
 * - `grpo`: (R − mean) / (std + 1e-6), unbiased std (DeepSeekMath §4.1; DART, ARPO);
 * - `dr_grpo`: R − mean, without the std that favours very easy and very hard tasks (Dr. GRPO, arXiv 2503.20783);
 * - `rloo`: R − mean of the others (REINFORCE leave-one-out).
 *
 * With scope `trajectory` each trajectory counts once. With scope `step` it counts once per step, as in DART's code:
 * there long trajectories, mostly failures, weigh more in mean and std.
 *
 * @param rewards one per trajectory.
 * @param steps number of steps of each trajectory; read with scope `step` only.
 */
export function advantages(
  rewards: readonly number[],
  kind: AdvantageKind = 'grpo',
  scope: AdvantageScope = 'trajectory',
  steps: readonly number[] = [],
): number[] {
  const members =
    scope === 'step' ? rewards.flatMap((reward, i) => Array<number>(steps[i] ?? 1).fill(reward)) : rewards;
  const { mean, std } = moments(members);
  if (kind === 'dr_grpo') return rewards.map((reward) => reward - mean);
  if (kind === 'rloo') return leaveOneOut(rewards, members);
  // A single member has no spread to be measured by: mean 0 and std 1, as in verl.
  if (members.length === 1) return rewards.map((reward) => reward / (1 + EPSILON));
  return rewards.map((reward) => (reward - mean) / (std + EPSILON));
}

function leaveOneOut(rewards: readonly number[], members: readonly number[]): number[] {
  if (members.length < 2) return rewards.map(() => 0);
  const sum = members.reduce((total, reward) => total + reward, 0);
  return rewards.map((reward) => reward - (sum - reward) / (members.length - 1));
}
