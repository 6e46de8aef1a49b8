import type { CommandContext } from '../../lib/cli/spec.ts';
import { either, nearestFew, UsageError } from '../../lib/cli/usage.ts';
import type { Comparison, GuardRule } from '../../lib/training/guards.ts';
import { TRAIN_METRICS, type TrainMetric } from '../../lib/training/metrics.ts';
import { type ReportSettings, reportedMetrics } from '../../lib/training/reported.ts';
import type { TrainingConfig } from '../../lib/training/run.ts';
import { engineOf, numberOf, type TrainSettings, textOf } from './settings.ts';

const RULE = /^\s*(?:train\/)?([\w/]+)\s*(<=|>=|<|>)\s*(\S+?)(?:\s+for\s+(\d+))?\s*$/;

/**
 * What the options of the group "Guards" ask of the training room.
 * @throws UsageError for a rule that is none, and for going back with an objective that reads its input before it learns.
 */
export function guardSettings(
  options: CommandContext['options'],
  config: TrainSettings,
): Pick<TrainingConfig, 'stopIf' | 'rollback'> {
  const drop = numberOf(options, 'rollback-drop');
  const interval = options['rollback-interval'] === true;
  const asked = drop !== null || interval || textOf(options, 'evaluations') !== null;
  if (asked && config.objective.kind !== 'policy') {
    throw new UsageError(`--objective ${options.objective} reads all input before it learns and cannot go back`, {
      where: '--evaluations, --rollback-drop, --rollback-interval',
      hint: '--stop-if, or dart-eval after each pass',
    });
  }
  const reports = reportSettings(options, config);
  const texts = Array.isArray(options['stop-if']) ? options['stop-if'] : [];
  const stopIf = texts.map((text) => guardRule(String(text), reports));
  return { stopIf, rollback: asked ? { drop, interval } : null };
}

/** What decides which metrics the run reports. */
export function reportSettings(options: CommandContext['options'], config: TrainSettings): ReportSettings {
  const { objective, learner } = config;
  const { minibatches, epochs } = learner;
  return { objective, minibatches, epochs, torch: engineOf(options) === 'torch' };
}

/** Throws a UsageError for what is no rule, and for a metric that there is not, with those of like names. */
function guardRule(text: string, reports: ReportSettings): GuardRule {
  const [, name = '', comparison, number = '', count = '1'] = RULE.exec(text) ?? [];
  const limit = Number(number);
  const updates = Number(count);
  if (comparison === undefined || !Number.isFinite(limit) || updates < 1 || !Number.isSafeInteger(updates)) {
    const example = reports.objective.kind === 'policy' ? 'rollout_kl>0.5 for 3' : 'grad_norm>50 for 3';
    throw new UsageError(`'${text}' is no rule`, { where: '--stop-if', hint: `--stop-if '${example}'` });
  }
  const metric = `train/${name}`;
  if (!(metric in TRAIN_METRICS)) {
    throw new UsageError(`there is no metric '${name}'`, {
      where: '--stop-if',
      hint: `${likeNames(name, reports)}; docs/metrics.md has all`,
    });
  }
  return { metric: metric as TrainMetric, comparison: comparison as Comparison, limit, updates };
}

/** The three metrics of this run whose names are most like one that is not there. */
function likeNames(name: string, reports: ReportSettings): string {
  const names = reportedMetrics(reports).map((metric) => metric.replace('train/', ''));
  return either(nearestFew(name, names));
}
