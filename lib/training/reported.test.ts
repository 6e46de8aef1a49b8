import { describe, expect, it } from 'vitest';
import type { GuardRule } from './guards.ts';
import type { TrainMetric } from './metrics.ts';
import { type Objective, PRESETS } from './presets.ts';
import { guardAdvice, type ReportSettings, reportedMetrics } from './reported.ts';

const rule = (metric: string, comparison: GuardRule['comparison'], limit: number): GuardRule => ({
  ...{ metric: `train/${metric}` as TrainMetric, comparison, limit, updates: 1 },
});
const grpo: Objective = { kind: 'policy', policy: PRESETS.grpo.objective };
const dart: Objective = { kind: 'policy', policy: PRESETS.dart.objective };
const run = (objective: Objective, more: Partial<ReportSettings> = {}): ReportSettings => ({
  ...{ objective, minibatches: 1, epochs: 1, torch: false, ...more },
});

describe('guardAdvice', () => {
  it.each([
    ['approx_kl', '>', 0.2, '0 in every update with one minibatch and one epoch, so the rule never holds'],
    ['clipfrac', '<', 0.1, '0 in every update with one minibatch and one epoch, so the rule always holds'],
    ['tis_mean', '<', 0.5, '1 in every update without importance weights, so the rule never holds'],
    ['tis_truncated', '>', 0.5, '0 in every update without importance weights, so the rule never holds'],
    ['entropy_threshold', '<', 0.5, 'not known in every update that keeps all steps, so the rule never holds'],
  ] as const)('tells of %s, which cannot move', (metric, comparison, limit, wanted) => {
    const [line, ...others] = guardAdvice([rule(metric, comparison, limit)], run(grpo));
    expect(line).toMatch(`--stop-if ${metric}${comparison}${limit}: the metric is ${wanted}. Try: `);
    expect(others).toEqual([]);
  });

  it('tells of nothing that moves', () => {
    const rules = ['approx_kl', 'clipfrac', 'tis_mean', 'entropy_threshold', 'ref_kl'].map((name) =>
      rule(name, '>', 1),
    );
    expect(guardAdvice(rules, run(dart, { epochs: 2 }))).toEqual([]);
    expect(guardAdvice([rule('rollout_kl', '>', 1), rule('entropy', '<', 1)], run(grpo))).toEqual([]);
  });

  it('tells of a metric that the objective or the engine does not have', () => {
    const told = (metric: string, settings: ReportSettings) => guardAdvice([rule(metric, '>', 1)], settings);
    const line = (metric: string) => [`--stop-if ${metric}>1: this run does not report the metric`];
    expect(told('ref_kl', run(grpo))).toEqual(line('ref_kl'));
    expect(told('memory_bytes', run(grpo))).toEqual(line('memory_bytes'));
    expect(told('memory_bytes', run(grpo, { torch: true }))).toEqual([]);
    expect(told('kl', run({ kind: 'dpo', beta: 1 }))).toEqual(line('kl'));
    expect(told('rewards_margins', run({ kind: 'dpo', beta: 1 }))).toEqual([]);
  });
});

it('the metrics of imitation are those of the update and the passes', () => {
  expect(reportedMetrics(run({ kind: 'sft' })).map((name) => name.replace('train/', ''))).toEqual([
    ...['loss', 'grad_norm', 'lr', 'entropy', 'kept_steps', 'tokens', 'tokens_per_s', 'samples_per_s', 'update_s'],
    'epoch',
  ]);
});
