import { describe, expect, it } from 'vitest';
import { PRESETS, type PresetName, resolveObjective } from './presets.ts';

/** The table of design §9, a row as it is written there. */
const TABLE: Record<PresetName, unknown[]> = {
  //     clip low, high, dual, C, level, β, estimator, mean over, lr, T, eval T, steps, n, dynamic n, keep
  dart: [0.2, 0.28, null, 1, 'token', 0.1, 'k3', 'sequence-mean', 1e-6, 1, 1, 30, 8, true, 0.8],
  arpo: [0.2, 0.3, 3, null, 'token', 0, 'k3', 'token-mean', 1e-6, 1, 0.6, 15, 8, false, 1],
  grpo: [0.2, 0.2, null, null, 'token', 0, 'k3', 'token-mean', 1e-6, 1, 1, 30, 8, false, 1],
};

describe('presets', () => {
  it.each(Object.entries(TABLE))('%s is the row of the table', (name, row) => {
    const { objective: o, lr7b, rollout: r } = PRESETS[name as PresetName];
    expect([
      ...[o.clipLow, o.clipHigh, o.dualClip, o.tisCap, o.tisLevel, o.klBeta, o.klEstimator, o.aggregation, lr7b],
      ...[r.temperature, r.evalTemperature, r.maxSteps, r.rollouts, r.dynamicRollouts, o.keepEntropy],
    ]).toEqual(row);
    expect(o.surrogate).toBe('grpo');
    expect(o.entropyCoef).toBe(0);
  });

  it('has pool and dynamic length in dart; replay, task selection and format reward in arpo', () => {
    expect(PRESETS.dart.rollout).toMatchObject({ pool: 'dart', dynamicLength: true, formatReward: null });
    expect(PRESETS.arpo.rollout).toMatchObject({ pool: 'arpo', taskSelection: true, formatReward: 0.5 });
    expect(PRESETS.grpo.rollout).toMatchObject({ pool: null, taskSelection: false, dynamicLength: false });
  });
});

describe('resolveObjective', () => {
  it('lays --loss over the preset and flags over both', () => {
    const gspo = resolveObjective('dart', 'gspo', { clipHigh: 5e-4 });
    expect(gspo).toMatchObject({ surrogate: 'gspo', clipLow: 3e-4, clipHigh: 5e-4, klBeta: 0.1, tisCap: 1 });
    expect(resolveObjective('dart', 'dapo')).toMatchObject({ clipHigh: 0.28, aggregation: 'token-mean', klBeta: 0 });
    expect(resolveObjective('grpo', 'dr_grpo').aggregation).toBe('constant');
    expect(resolveObjective('grpo', 'cispo')).toMatchObject({ surrogate: 'cispo', clipHigh: 4 });
  });

  it('lets null switch off and undefined keep', () => {
    expect(resolveObjective('dart', 'grpo', { tisCap: null }).tisCap).toBeNull();
    expect(resolveObjective('dart', 'grpo', { tisCap: undefined }).tisCap).toBe(1);
  });

  it.each([
    ['keepEntropy', 0, '--keep-entropy'],
    ['keepEntropy', 1.2, '--keep-entropy'],
    ['clipLow', 1.5, '--clip-low'],
    ['dualClip', 0.5, '--dual-clip'],
    ['tisCap', 0, '--tis-cap'],
    ['klBeta', -1, '--kl-beta'],
    ['clipHigh', Number.NaN, '--clip-high'],
  ] as const)('names %s = %s', (field, value, flag) => {
    expect(() => resolveObjective('dart', 'grpo', { [field]: value })).toThrow(flag);
  });
});
