import type { CommandContext } from '../../lib/cli/spec.ts';
import { either, nearestFew, UsageError } from '../../lib/cli/usage.ts';
import type { Comparison, GuardRule } from '../../lib/training/guards.ts';
import { TRAIN_METRICS, type TrainMetric } from '../../lib/training/metrics.ts';
import type { Objective } from '../../lib/training/presets.ts';
import type { TrainingConfig } from '../../lib/training/run.ts';
import { numberOf, textOf } from './settings.ts';

const RULE = /^\s*(?:train\/)?([\w/]+)\s*(<=|>=|<|>)\s*(\S+?)(?:\s+for\s+(\d+))?\s*$/;

/**
 * What the options of the group "Guards" ask of the training room.
 * @throws UsageError for a rule that is none, and for going back with an objective that reads its input before it learns.
 */
export function guardSettings(
  options: CommandContext['options'],
  objective: Objective,
): Pick<TrainingConfig, 'stopIf' | 'rollback'> {
  const drop = numberOf(options, 'rollback-drop');
  const interval = options['rollback-interval'] === true;
  const asked = drop !== null || interval || textOf(options, 'evaluations') !== null;
  if (asked && objective.kind !== 'policy') {
    throw new UsageError(`--objective ${options.objective} reads all input before it learns and cannot go back`, {
      where: '--evaluations, --rollback-drop, --rollback-interval',
      hint: '--stop-if, or dart-eval after each pass',
    });
  }
  return { stopIf: guardRules(options['stop-if']), rollback: asked ? { drop, interval } : null };
}

/** Throws a UsageError for what is no rule, and for a metric that there is not, with those of like names. */
function guardRules(texts: unknown): GuardRule[] {
  return (Array.isArray(texts) ? texts : []).map((text) => guardRule(String(text)));
}

function guardRule(text: string): GuardRule {
  const [, name = '', comparison, number = '', count = '1'] = RULE.exec(text) ?? [];
  const limit = Number(number);
  if (comparison === undefined || !Number.isFinite(limit) || Number(count) < 1) {
    throw new UsageError(`'${text}' is no rule`, { where: '--stop-if', hint: "--stop-if 'approx_kl>0.2 for 3'" });
  }
  const metric = `train/${name}`;
  if (!(metric in TRAIN_METRICS)) {
    throw new UsageError(`there is no metric '${name}'`, {
      where: '--stop-if',
      hint: `${likeNames(name)}; docs/metrics.md has all`,
    });
  }
  return { metric: metric as TrainMetric, comparison: comparison as Comparison, limit, updates: Number(count) };
}

/** The three metrics whose names are most like one that is not there. */
function likeNames(name: string): string {
  const names = Object.keys(TRAIN_METRICS).map((metric) => metric.replace('train/', ''));
  return either(nearestFew(name, names));
}
