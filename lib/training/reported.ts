import { type GuardRule, holds, ruleText } from './guards.ts';
import { TRAIN_METRICS, type TrainMetric } from './metrics.ts';
import type { Objective } from './presets.ts';
import { OFFLINE_METRICS } from './report.ts';

/** What decides which metrics a run reports, and which of them can move. */
export interface ReportSettings {
  objective: Objective;
  /** Optimiser steps and passes of an update from samples. */
  minibatches: number;
  epochs: number;
  torch: boolean;
}

const TORCH: readonly TrainMetric[] = [
  ...(['train/forward_s', 'train/head_s', 'train/backward_s', 'train/optimizer_s', 'train/memory_bytes'] as const),
];
const SIDES = ['train/rewards_chosen', 'train/rewards_rejected', 'train/rewards_margins'] as const;
const PREFERENCES: Readonly<Record<'sft' | 'dpo' | 'kto', readonly TrainMetric[]>> = {
  sft: [],
  dpo: [...SIDES, 'train/rewards_accuracies'],
  kto: [...SIDES, 'train/kl'],
};
const ONLY_OFFLINE: readonly TrainMetric[] = ['train/epoch', ...PREFERENCES.dpo, ...PREFERENCES.kto];

/** The metrics that the updates of a run report, in the order of the table. */
export function reportedMetrics(settings: ReportSettings): TrainMetric[] {
  const reported = isReportedBy(settings);
  return (Object.keys(TRAIN_METRICS) as TrainMetric[]).filter(
    (metric) => reported(metric) && (settings.torch || !TORCH.includes(metric)),
  );
}

function isReportedBy({ objective }: ReportSettings): (metric: TrainMetric) => boolean {
  if (objective.kind === 'policy') {
    const { klBeta } = objective.policy;
    return (metric) => !ONLY_OFFLINE.includes(metric) && (klBeta > 0 || metric !== 'train/ref_kl');
  }
  const offline = [...OFFLINE_METRICS, 'train/epoch', ...TORCH, ...PREFERENCES[objective.kind]];
  return (metric) => offline.includes(metric);
}

/** One line for each rule that cannot do what it was given for, since its metric does not come or cannot move. */
export function guardAdvice(rules: readonly GuardRule[], settings: ReportSettings): string[] {
  const reported = reportedMetrics(settings);
  const still = stillMetrics(settings);
  return rules.flatMap((rule) => {
    const told = `--stop-if ${ruleText(rule)}:`;
    if (!reported.includes(rule.metric)) return [`${told} this run does not report the metric`];
    const found = still.find(({ metrics }) => metrics.includes(rule.metric));
    if (!found) return [];
    const value = found.values[found.metrics.indexOf(rule.metric)] ?? null;
    const is = value === null ? 'not known' : String(value);
    const outcome = value !== null && holds(rule, value) ? 'always holds' : 'never holds';
    return [`${told} the metric is ${is} in every update ${found.why}, so the rule ${outcome}. Try: ${found.hint}`];
  });
}

interface Still {
  metrics: readonly TrainMetric[];
  /** Of each of these; null is one that is not known. */
  values: readonly (number | null)[];
  why: string;
  hint: string;
}

/** Metrics that have one value by construction. */
function stillMetrics({ objective, minibatches, epochs }: ReportSettings): Still[] {
  if (objective.kind !== 'policy') return [];
  const { tisCap, keepEntropy } = objective.policy;
  const all: Still[] = [];
  if (minibatches * epochs === 1) {
    const metrics = ['train/approx_kl', 'train/clipfrac'] as const;
    const why = 'with one minibatch and one epoch';
    all.push({ metrics, values: [0, 0], why, hint: 'rollout_kl, or --minibatches 2' });
  }
  if (tisCap === null) {
    const metrics = ['train/tis_mean', 'train/tis_max', 'train/tis_truncated'] as const;
    all.push({ metrics, values: [1, 1, 0], why: 'without importance weights', hint: 'rollout_kl, or --tis-cap C' });
  }
  if (keepEntropy >= 1) {
    const metrics = ['train/entropy_threshold'] as const;
    all.push({ metrics, values: [null], why: 'that keeps all steps', hint: 'entropy, or --keep-entropy SHARE' });
  }
  return all;
}
