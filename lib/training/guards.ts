import type { TrainMetric, TrainMetrics } from './metrics.ts';

export type Comparison = '<' | '>' | '<=' | '>=';

/** A limit that a metric of an update must not pass: `approx_kl>0.2 for 3`. */
export interface GuardRule {
  metric: TrainMetric;
  comparison: Comparison;
  limit: number;
  /** Updates in a row that must pass it. */
  updates: number;
}

/** A rule that ended the run. */
export interface TrippedGuard {
  /** The rule as text, `approx_kl>0.2`. */
  rule: string;
  value: number;
  /** The update at which the rule's metric began to pass its limit, and the one at which it ended the run. */
  since: number;
  update: number;
}

const HOLDS: Record<Comparison, (value: number, limit: number) => boolean> = {
  '<': (value, limit) => value < limit,
  '>': (value, limit) => value > limit,
  '<=': (value, limit) => value <= limit,
  '>=': (value, limit) => value >= limit,
};

/** A rule as it is written on the command line, without `train/`. */
export function ruleText({ metric, comparison, limit, updates }: GuardRule): string {
  const text = `${metric.replace('train/', '')}${comparison}${limit}`;
  return updates === 1 ? text : `${text} for ${updates}`;
}

/** Holds the metrics of each update against the rules, and counts in how many updates in a row one was passed. */
export class Guards {
  readonly #rules: readonly GuardRule[];
  /** Updates in a row that passed each rule's limit. */
  readonly #rows: number[][];
  #told = false;

  constructor(rules: readonly GuardRule[]) {
    this.#rules = rules;
    this.#rows = rules.map(() => []);
  }

  /**
   * The first rule that the update breaks; null where it breaks none. An update in which the metric is not known neither
   * counts nor ends a row.
   */
  check(metrics: TrainMetrics, update: number): TrippedGuard | null {
    let tripped: TrippedGuard | null = null;
    for (const [i, rule] of this.#rules.entries()) {
      const value = metrics[rule.metric];
      if (typeof value !== 'number' || Number.isNaN(value)) continue;
      const row = this.#rows[i]!;
      if (HOLDS[rule.comparison](value, rule.limit)) row.push(update);
      else row.length = 0;
      if (row.length < rule.updates) continue;
      tripped ??= { rule: ruleText(rule), value, since: row[0]!, update };
    }
    return tripped;
  }

  /** Begins to count anew: the weights are no longer those that were counted. */
  forget(): void {
    for (const row of this.#rows) row.length = 0;
  }

  /** Rules whose metric the first update does not report, as text; nothing after the first update. */
  idle(metrics: TrainMetrics): string[] {
    if (this.#told) return [];
    this.#told = true;
    return this.#rules.filter(({ metric }) => metrics[metric] === undefined).map(ruleText);
  }
}
