import type { Metric } from '../stream/records.ts';

/**
 * Every number that the trainer reports, once: emission takes names from here only, and `docs/metrics.md` is held to
 * this table by a test. Names follow cleanrl (`approx_kl`, `clipfrac`), verl and, for preferences, TRL where those have one.
 *
 * Notation: p current policy, o policy at the start of the update, m behaviour policy, f frozen reference.
 */
export const TRAIN_METRICS = {
  'train/loss': [
    'nats',
    'The minimised quantity: policy term + β · KL − coefficient · entropy; for sft the mean NLL; for dpo and kto their mean',
  ],
  'train/grad_norm': ['', 'Global L2 norm of the gradient before clipping'],
  'train/lr': ['', 'Learning rate of this update'],
  'train/approx_kl': ['nats', 'Mean over tokens of (r − 1) − ln r with r = p/o; 0 with one minibatch and one epoch'],
  'train/clipfrac': ['share', 'Tokens whose ratio r lies outside the clip range'],
  'train/entropy': ['nats/token', 'Mean exact entropy of the policy over the tokens learned from'],
  'train/ref_kl': ['nats', 'Mean over tokens of the KL estimate against the frozen reference; absent when β = 0'],
  'train/tis_mean': ['', 'Mean importance weight w over the tokens, after truncation or masking; 1 where unscored'],
  'train/tis_max': ['', 'Largest importance weight w'],
  'train/tis_truncated': ['share', 'Scored tokens whose ratio o/m is above the cap C by more than rounding (0.01%)'],
  'train/logp_diff': ['nats', 'Mean over scored tokens of |ln o − ln m|: trainer against rollout'],
  'train/rollout_kl': ['nats', 'Mean over scored tokens of ln m − ln o: k1 estimate of KL(m‖o)'],
  'train/staleness_mean': ['versions', 'Mean over steps of current − behaviour version, injected steps left out'],
  'train/staleness_max': ['versions', 'Largest such difference'],
  'train/reward_mean': ['score', 'Mean reward of the trajectories behind the steps, weighted by steps'],
  'train/groups': ['groups', 'Groups learned from in this update'],
  'train/groups_rejected': [
    'groups',
    'Groups since the last update from which nothing is learned, here or by dart-curate',
  ],
  'train/groups_rejected/all_failed': ['groups', 'Of these: every rollout failed, and the pool was not asked'],
  'train/groups_rejected/all_succeeded': ['groups', 'Of these: every rollout succeeded'],
  'train/groups_rejected/no_variance': ['groups', 'Of these: every rollout had the same reward between 0 and 1'],
  'train/groups_rejected/no_success_stored': ['groups', 'Of these: every rollout failed, and the pool has no success'],
  'train/groups_rejected/too_few_scored': ['groups', 'Of these: too few rollouts had a score'],
  'train/groups_rejected/stale': ['groups', 'Of these: the rollouts were made by versions that are too old'],
  'train/groups_rejected/unspelt': ['groups', 'Of these: the vocabulary cannot spell any of the replies'],
  'train/groups_rejected/other': ['groups', 'Of these: another reason, or none given'],
  'train/groups_held': ['groups', 'Groups that are still waiting for steps'],
  'train/steps': ['steps', 'Steps of the groups before selection'],
  'train/kept_steps': ['steps', 'Steps learned from, after selection by entropy'],
  'train/entropy_threshold': ['nats/token', 'Mean over the groups of the entropy below which a step was left out'],
  'train/injected_steps': ['steps', 'Kept steps that came from the experience pool'],
  'train/tokenised_steps': ['steps', 'Kept steps without token ids, spelt by the trainer and taken with w = 1'],
  'train/unspelt_steps': ['steps', 'Steps left out because the vocabulary cannot spell the reply'],
  'train/unscored_tokens': ['tokens', 'Tokens without a usable behaviour log-probability, taken with w = 1'],
  'train/tokens': ['tokens', 'Tokens learned from in this update'],
  'train/tokens_per_s': ['tokens/s', 'Tokens learned from per second of the update itself'],
  'train/samples_per_s': ['steps/s', 'Steps learned from per second of the update itself'],
  'train/update_s': ['s', 'Duration of the update: selection, forward and backward passes, optimiser'],
  'train/forward_s': ['s', 'Torch engine: mean over the optimiser steps of what forward passes took, on rank 0'],
  'train/head_s': ['s', 'Torch engine: of LM head and loss, with their gradients'],
  'train/backward_s': ['s', 'Torch engine: of backward passes'],
  'train/optimizer_s': ['s', 'Torch engine: of clipping and AdamW'],
  'train/memory_bytes': ['bytes', 'Torch engine: the most that a rank used, of its GPU, or without one of the host'],
  'train/wait_s': ['s', 'Time spent waiting for groups before this update'],
  'train/rewards_chosen': ['nats', 'Mean of β (ln p − ln f) over the chosen episodes (dpo), the desirable ones (kto)'],
  'train/rewards_rejected': ['nats', 'The same over the rejected episodes (dpo), the undesirable ones (kto)'],
  'train/rewards_margins': ['nats', 'The difference of these two means'],
  'train/rewards_accuracies': ['share', 'Pairs whose chosen episode has the greater β (ln p − ln f) (dpo)'],
  'train/kl': ['nats', 'Reference point z: mean ln p − ln f of mismatched episodes, 0 where it is below (kto)'],
  'train/epoch': ['epochs', 'Passes over the demonstrations or preferences so far (sft, dpo, kto)'],
} as const satisfies Record<string, readonly [unit: string, definition: string]>;

export type TrainMetric = keyof typeof TRAIN_METRICS;
export type TrainMetrics = Partial<Record<TrainMetric, number | null>>;

/** One record a number, in the table's order; `update` says which update they belong to. Not finite becomes null. */
export function metricRecords(metrics: TrainMetrics, update: number): Metric[] {
  const names = Object.keys(TRAIN_METRICS) as TrainMetric[];
  return names
    .filter((name) => metrics[name] !== undefined)
    .map((name) => {
      const value = metrics[name] as number | null;
      const unit = TRAIN_METRICS[name][0];
      const finite = value !== null && Number.isFinite(value) ? value : null;
      return { type: 'metric', v: 1, name, value: finite, ...(unit ? { unit } : {}), update };
    });
}

/** The metrics that one line of progress shows. */
export function progressLine(metrics: TrainMetrics, update: number): string {
  const shown: [string, TrainMetric, number][] = [
    ['loss', 'train/loss', 4],
    ['reward', 'train/reward_mean', 2],
    ['margin', 'train/rewards_margins', 3],
    ['accuracy', 'train/rewards_accuracies', 2],
    ['kl', 'train/kl', 3],
    ['entropy', 'train/entropy', 3],
    ['grad', 'train/grad_norm', 2],
    ['w', 'train/tis_mean', 3],
    ['stale', 'train/staleness_mean', 1],
    ['groups', 'train/groups', 0],
    ['steps', 'train/kept_steps', 0],
    ['steps/s', 'train/samples_per_s', 0],
  ];
  const parts = shown
    .filter(([, name]) => typeof metrics[name] === 'number')
    .map(([label, name, digits]) => `${label} ${(metrics[name] as number).toFixed(digits)}`);
  return `update ${update}: ${parts.join(', ')}`;
}
