import type { TrainMetric, TrainMetrics } from './metrics.ts';

export type Comparison = '<' | '>' | '<=' | '>=';

/** A limit that a metric of an update must not pass: `rollout_kl>0.5 for 3`. */
export interface GuardRule {
  metric: TrainMetric;
  comparison: Comparison;
  limit: number;
  /** Updates in a row that must pass it. */
  updates: number;
}

/** A rule that ended the run. */
export interface TrippedGuard {
  /** The rule as text, `rollout_kl>0.5`. */
  rule: string;
  /** Null where it is infinite. */
  value: number | null;
  /** The update at which the rule's metric began to pass its limit, and the one at which it ended the run. */
  since: number;
  update: number;
}

/** In how many updates in a row a metric passed a limit, so far. */
export interface GuardRow {
  /** The first of them. */
  since: number;
  /** How many; those in which the metric is not known are not counted. */
  updates: number;
}

/** The rows that have begun, by limit (`rollout_kl>0.5`): versions keep them, so that a restart goes on counting. */
export type GuardRows = Readonly<Record<string, GuardRow>>;

const HOLDS: Record<Comparison, (value: number, limit: number) => boolean> = {
  '<': (value, limit) => value < limit,
  '>': (value, limit) => value > limit,
  '<=': (value, limit) => value <= limit,
  '>=': (value, limit) => value >= limit,
};

/** Whether a value is beyond the limit of a rule. */
export function holds({ comparison, limit }: GuardRule, value: number): boolean {
  return HOLDS[comparison](value, limit);
}

/** A rule as it is written on the command line, without `train/`. */
export function ruleText(rule: GuardRule): string {
  return rule.updates === 1 ? limitText(rule) : `${limitText(rule)} for ${rule.updates}`;
}

function limitText({ metric, comparison, limit }: GuardRule): string {
  return `${metric.replace('train/', '')}${comparison}${limit}`;
}

/** Holds the metrics of each update against the rules, and counts in how many updates in a row one was passed. */
export class Guards {
  readonly #rules: readonly GuardRule[];
  /** By the rules' limits. */
  readonly #rows: Map<string, GuardRow>;

  /** @param rows What the version that the run goes on from had counted. */
  constructor(rules: readonly GuardRule[], rows: GuardRows = {}) {
    this.#rules = rules;
    const limits = new Set(rules.map(limitText));
    this.#rows = new Map(Object.entries(rows).filter(([limit]) => limits.has(limit)));
  }

  /** What is counted so far, in the order of the rules; undefined where there is nothing. */
  get rows(): GuardRows | undefined {
    const limits = [...new Set(this.#rules.map(limitText))].filter((limit) => this.#rows.has(limit));
    if (limits.length === 0) return undefined;
    return Object.fromEntries(limits.map((limit) => [limit, this.#rows.get(limit)!]));
  }

  /** Whether this is one of the rules, as `ruleText` writes it. */
  has(rule: string): boolean {
    return this.#rules.some((each) => ruleText(each) === rule);
  }

  /**
   * The first rule that the update breaks; null where it breaks none. An update in which the metric is not known neither
   * counts nor ends a row.
   */
  check(metrics: TrainMetrics, update: number): TrippedGuard | null {
    const rows = new Map(this.#rows);
    let tripped: TrippedGuard | null = null;
    for (const rule of this.#rules) {
      const value = metrics[rule.metric];
      if (typeof value !== 'number' || Number.isNaN(value)) continue;
      const limit = limitText(rule);
      if (!holds(rule, value)) {
        rows.delete(limit);
        continue;
      }
      const { since, updates } = this.#rows.get(limit) ?? { since: update, updates: 0 };
      rows.set(limit, { since, updates: updates + 1 });
      if (updates + 1 >= rule.updates) tripped ??= { rule: ruleText(rule), value, since, update };
    }
    this.#rows.clear();
    for (const [limit, row] of rows) this.#rows.set(limit, row);
    return tripped;
  }

  /** Begins to count anew: the weights are no longer those that were counted. */
  forget(): void {
    this.#rows.clear();
  }
}
