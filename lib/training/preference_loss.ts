import { type Device, dpo, kto } from '../../native/index.ts';
import type { Batch, Episode, LabelledEpisode, Pair } from './engine.ts';
import type { Example } from './examples.ts';
import type { TrainMetrics } from './metrics.ts';
import type { Objective } from './presets.ts';

/** Log-probability of each example's whole reply: sums over its tokens. */
export interface ReplyScores {
  policy: ArrayLike<number>;
  reference: ArrayLike<number>;
}

/** Scores replies without gradient. */
export type ScoreReplies = (examples: readonly Example[]) => Promise<ReplyScores>;

/** What one optimiser step on preferences is to do. */
export interface PreferenceLoss {
  loss: number;
  /** All steps of all episodes. */
  examples: readonly Example[];
  /** For each, the scale of its tokens in the loss `sft`: minus the slope of the loss by its episode's log-probability. */
  scales: readonly number[];
  metrics: TrainMetrics;
}

type PreferenceBatch = Extract<Batch, { kind: 'dpo' | 'kto' }>;

/**
 * The loss of one optimiser step and its slopes. An episode's log-probability is the sum over all tokens of all its
 * replies.
 * @returns null where a log-probability was not finite.
 */
export async function preferenceLoss(
  batch: PreferenceBatch,
  objective: Objective,
  score: ScoreReplies,
  device: Device = 'cpu',
): Promise<PreferenceLoss | null> {
  if (batch.kind === 'dpo' && objective.kind === 'dpo') return pairLoss(batch.units, objective.beta, score, device);
  if (batch.kind === 'kto' && objective.kind === 'kto') return labelLoss(batch.units, objective, score, device);
  throw new Error(`a batch for ${batch.kind} and an objective for ${objective.kind}`);
}

/** Direct preference optimisation (Rafailov et al. 2023) of whole episodes. */
async function pairLoss(units: readonly Pair[], beta: number, score: ScoreReplies, device: Device) {
  const pairs = units.length;
  const episodes = [...units.map(({ chosen }) => chosen), ...units.map(({ rejected }) => rejected)];
  const scores = await episodeScores(episodes, score);
  if (!scores) return null;
  const { policy, reference } = scores;
  const { loss, dPolicyChosen, dPolicyRejected } = dpo({
    policyChosen: policy.subarray(0, pairs),
    policyRejected: policy.subarray(pairs),
    refChosen: reference.subarray(0, pairs),
    refRejected: reference.subarray(pairs),
    beta,
    device,
  });
  const rewards = rewardsOf(scores, beta);
  const [chosen, rejected] = [rewards.slice(0, pairs), rewards.slice(pairs)];
  const won = chosen.filter((reward, i) => reward > rejected[i]!).length;
  const metrics = { ...rewardMetrics(chosen, rejected), 'train/rewards_accuracies': won / pairs };
  return { loss, ...spread(episodes, [...dPolicyChosen, ...dPolicyRejected]), metrics };
}

/** Kahneman-Tversky optimisation (Ethayarajh et al. 2024) of whole episodes. */
async function labelLoss(
  units: readonly LabelledEpisode[],
  { beta, desirableWeight, undesirableWeight }: Extract<Objective, { kind: 'kto' }>,
  score: ScoreReplies,
  device: Device,
) {
  const episodes = units.map(({ episode }) => episode);
  const mismatched = mismatchedEpisodes(episodes);
  const scores = await episodeScores([...episodes, ...mismatched], score);
  if (!scores) return null;
  const of = (which: 'policy' | 'reference') => scores[which].subarray(0, units.length);
  const ratios = Array.from(scores.policy, (logp, i) => logp - scores.reference[i]!);
  const kl = mismatched.length === 0 ? 0 : Math.max(0, mean(ratios.slice(units.length)));
  const { loss, dPolicy } = kto({
    policy: of('policy'),
    ref: of('reference'),
    desirable: Uint8Array.from(units, ({ label }) => Number(label)),
    beta,
    referencePoint: kl,
    desirableWeight,
    undesirableWeight,
    device,
  });
  const rewards = rewardsOf(scores, beta);
  const chosen = rewards.filter((_, i) => units[i]?.label === true);
  const rejected = rewards.filter((_, i) => units[i]?.label === false);
  return { loss, ...spread(episodes, dPolicy), metrics: { ...rewardMetrics(chosen, rejected), 'train/kl': kl } };
}

/**
 * Each episode's prompts with the replies of the one before it (the first: of the last), as TRL rotates completions. Every
 * reply of the other is there once: its step t under this one's step t, or under its last step where it has fewer; this
 * one's further steps are left out. An episode alone has no other: none.
 */
export function mismatchedEpisodes(episodes: readonly Episode[]): Episode[] {
  if (episodes.length < 2) return [];
  return episodes.map((episode, i) => {
    const other = episodes.at(i - 1)!;
    return other.map(({ tokens, text, finishReason }, t) => {
      const prompt = episode[Math.min(t, episode.length - 1)]!;
      return { ...prompt, tokens, text, finishReason };
    });
  });
}

/** Sums over each episode's replies; null where one is not finite. */
async function episodeScores(episodes: readonly Episode[], score: ScoreReplies) {
  const scores = await score(episodes.flat());
  const sums = { policy: new Float64Array(episodes.length), reference: new Float64Array(episodes.length) };
  let at = 0;
  for (const [e, episode] of episodes.entries()) {
    for (const end = at + episode.length; at < end; at++) {
      sums.policy[e]! += scores.policy[at]!;
      sums.reference[e]! += scores.reference[at]!;
    }
  }
  return sums.policy.every(Number.isFinite) && sums.reference.every(Number.isFinite) ? sums : null;
}

/** DPO's implicit rewards: β (ln p − ln f). */
function rewardsOf({ policy, reference }: { policy: Float64Array; reference: Float64Array }, beta: number): number[] {
  return Array.from(policy, (logp, i) => beta * (logp - reference[i]!));
}

/** Nothing of a kind that the batch has not. */
function rewardMetrics(chosen: readonly number[], rejected: readonly number[]): TrainMetrics {
  return {
    ...(chosen.length > 0 ? { 'train/rewards_chosen': mean(chosen) } : {}),
    ...(rejected.length > 0 ? { 'train/rewards_rejected': mean(rejected) } : {}),
    ...(chosen.length > 0 && rejected.length > 0 ? { 'train/rewards_margins': mean(chosen) - mean(rejected) } : {}),
  };
}

/** Each episode's slope, negated, over all its steps. */
function spread(episodes: readonly Episode[], slopes: ArrayLike<number>) {
  return { examples: episodes.flat(), scales: episodes.flatMap((episode, e) => episode.map(() => -slopes[e]!)) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
