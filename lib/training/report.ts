import type { Example } from './examples.ts';
import type { LeftUpdate, UpdateResult } from './learner.ts';
import type { TrainMetrics } from './metrics.ts';
import type { SelectedGroup } from './selection.ts';

/** What the optimiser steps of one update say of themselves. */
export function updateMetrics(result: UpdateResult, seconds: number): TrainMetrics {
  const { statistics: s } = result;
  const perToken = (sum: number) => ratio(sum, s.tokens);
  const perScored = (sum: number) => ratio(sum, s.rolloutTokens);
  const steps = result.examples;
  return {
    'train/loss': result.loss,
    'train/grad_norm': result.gradNorm,
    'train/lr': result.lr,
    'train/entropy': perToken(s.entropy),
    'train/approx_kl': perToken(s.approxKl),
    'train/clipfrac': perToken(s.clipped),
    ...(s.referenceTokens > 0 ? { 'train/ref_kl': s.referenceKl / s.referenceTokens } : {}),
    'train/tis_mean': perToken(s.weight),
    'train/tis_max': s.tokens > 0 ? s.weightMax : null,
    'train/tis_truncated': perScored(s.truncated),
    'train/logp_diff': perScored(s.logpDifference),
    'train/rollout_kl': perScored(-s.logWeight),
    'train/unscored_tokens': s.tokens - s.rolloutTokens,
    'train/tokens': s.tokens,
    'train/kept_steps': steps,
    'train/tokens_per_s': ratio(s.tokens, seconds),
    'train/samples_per_s': ratio(steps, seconds),
    'train/update_s': seconds,
    ...result.more,
  };
}

/** Of sft, dpo and kto: what means something without a behaviour policy. */
export const OFFLINE_METRICS = [
  ...(['train/loss', 'train/grad_norm', 'train/lr', 'train/entropy', 'train/kept_steps'] as const),
  ...(['train/tokens', 'train/tokens_per_s', 'train/samples_per_s', 'train/update_s'] as const),
] as const;

/** Of sft, dpo and kto only these, and what the engine says besides. */
export function offlineMetrics(result: UpdateResult, seconds: number, epoch: number): TrainMetrics {
  const all = updateMetrics(result, seconds);
  const chosen = Object.fromEntries(OFFLINE_METRICS.map((name) => [name, all[name]]));
  return { ...chosen, ...result.more, 'train/epoch': epoch };
}

/** What the groups of one update say of where they come from. */
export function groupMetrics(groups: readonly SelectedGroup[], version: number): TrainMetrics {
  const kept = groups.flatMap((group) => group.kept);
  const stale = kept.filter((e) => !e.injected).map((e) => Math.max(0, version - e.behaviourVersion));
  const thresholds = groups.map((group) => group.threshold).filter((threshold) => threshold !== null);
  return {
    'train/staleness_mean': mean(stale),
    'train/staleness_max': stale.length > 0 ? Math.max(...stale) : null,
    'train/reward_mean': mean(kept.map((e) => e.reward)),
    'train/groups': groups.length,
    'train/steps': groups.reduce((sum, group) => sum + group.steps, 0),
    'train/entropy_threshold': mean(thresholds),
    'train/injected_steps': count(kept, (e) => e.injected),
    'train/tokenised_steps': count(kept, (e) => e.tokenised),
    'train/unspelt_steps': groups.reduce((sum, group) => sum + group.unspelt, 0),
  };
}

/**
 * What is told of an update that was told to stop.
 * @param at Its number, how many before it are lost with it, since no version has them, and why it was to stop.
 */
export function leftUpdate({ done, of }: LeftUpdate, at: { update: number; lost: number; why: string }): string {
  const { update, lost, why } = at;
  const first = update - lost;
  const before = lost > 1 ? `, and so are updates ${first}-${update - 1}` : `, and so is update ${first}`;
  const again = `the same command, which makes ${lost > 0 ? 'them' : 'it'} anew`;
  const hint = why === 'max-seconds' ? 'a longer --max-seconds, fewer --epochs or --minibatches' : again;
  const what = `stopped (${why}) after ${done} of ${of} optimiser steps of update ${update}`;
  return `${what}: it is left out${lost > 0 ? before : ''}. Try: ${hint}`;
}

function count(examples: readonly Example[], holds: (example: Example) => boolean): number {
  return examples.filter(holds).length;
}

/** Null of nothing: no number is better than a wrong one. */
function mean(values: readonly number[]): number | null {
  return ratio(
    values.reduce((sum, value) => sum + value, 0),
    values.length,
  );
}

function ratio(sum: number, count: number): number | null {
  return count > 0 ? sum / count : null;
}
