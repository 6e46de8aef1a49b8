import { describe, expect, it } from 'vitest';
import { logpEntropy, type PolicyLossInput, policyLoss, summarise } from './index.ts';

const LN2 = Math.log(2);
const f32 = (...values: number[]) => Float32Array.from(values);
const ids = (...values: number[]) => Int32Array.from(values);

/** One token whose two choices are equally likely: logp = -ln 2, entropy = ln 2, d logp / d logits = [0.5, -0.5]. */
function coin(options: Partial<PolicyLossInput> = {}) {
  return policyLoss({ logits: f32(0, 0), vocabulary: 2, target: ids(0), scale: f32(1), ...options });
}
/** The same coin with the given ratio. */
const withRatio = (ratio: number, options: Partial<PolicyLossInput> = {}) =>
  coin({ oldLogp: f32(-LN2 - Math.log(ratio)), ...options });

describe('policyLoss of one token', () => {
  it('gives log-probability, entropy, ratio 1 and the plain gradient', () => {
    const got = coin({ advantage: f32(2) });
    expect(got.logp[0]).toBeCloseTo(-LN2, 6);
    expect(got.entropy[0]).toBeCloseTo(LN2, 6);
    expect(got.ratio[0]).toBe(1);
    expect(got.weight[0]).toBe(1);
    expect(got.tokenLoss[0]).toBe(-2);
    expect([...got.dlogits!]).toEqual([-1, 1]);
  });

  it('uses the temperature: logits ln 9 and 0 at T = 2 are odds of 3', () => {
    const got = coin({ logits: f32(Math.log(9), 0), temperature: 2 });
    expect(got.logp[0]).toBeCloseTo(Math.log(0.75), 6);
    expect(got.entropy[0]).toBeCloseTo(-0.75 * Math.log(0.75) - 0.25 * Math.log(0.25), 6);
    expect(got.dlogits![0]).toBeCloseTo(-0.25 / 2, 6);
  });

  it.each([
    { name: 'above the range, A > 0: held at 1 + hi, no gradient', ratio: 2, advantage: 1, loss: -1.28, gradient: 0 },
    { name: 'above the range, A < 0: not held', ratio: 2, advantage: -1, loss: 2, gradient: 1 },
    { name: 'below the range, A < 0: held at 1 - lo, no gradient', ratio: 0.5, advantage: -1, loss: 0.8, gradient: 0 },
    { name: 'below the range, A > 0: not held', ratio: 0.5, advantage: 1, loss: -0.5, gradient: -0.25 },
    { name: 'inside', ratio: 1.1, advantage: 1, loss: -1.1, gradient: -0.55 },
  ])('clips: $name', ({ ratio, advantage, loss, gradient }) => {
    const got = withRatio(ratio, { advantage: f32(advantage) });
    expect(got.ratio[0]).toBeCloseTo(ratio, 5);
    expect(got.tokenLoss[0]).toBeCloseTo(loss, 5);
    expect(got.dlogits![0]).toBeCloseTo(gradient, 5);
    expect(got.statistics.clipped).toBe(ratio === 1.1 ? 0 : 1);
  });

  it('dual clip stops the loss at -c A', () => {
    const got = withRatio(4, { advantage: f32(-1), dualClip: 3 });
    expect(got.tokenLoss[0]).toBe(3);
    expect([...got.dlogits!]).toEqual([0, 0]);
    expect(withRatio(4, { advantage: f32(-1) }).tokenLoss[0]).toBeCloseTo(4, 5);
  });

  it('cispo caps the weight of the log-probability and keeps its gradient', () => {
    const got = withRatio(4, { kind: 'cispo', clipHigh: 1, advantage: f32(1) });
    expect(got.tokenLoss[0]).toBeCloseTo(2 * LN2, 5);
    expect(got.dlogits![0]).toBeCloseTo(-2 * 0.5, 5);
  });

  it('sft is the weighted negative log-likelihood', () => {
    const got = coin({ kind: 'sft', advantage: f32(3), scale: f32(0.5) });
    expect(got.tokenLoss[0]).toBeCloseTo(3 * LN2, 5);
    expect(got.statistics.loss).toBeCloseTo(1.5 * LN2, 5);
    expect(got.dlogits![0]).toBeCloseTo(-0.75, 5);
  });

  it('truncated importance sampling caps, masks, and leaves unscored tokens at 1', () => {
    const twice = { oldLogp: f32(-LN2), rolloutLogp: f32(-2 * LN2) };
    expect(coin({ ...twice, tis: { cap: 3 } }).weight[0]).toBeCloseTo(2, 5);
    expect(coin({ ...twice, tis: { cap: 1.5 } }).weight[0]).toBe(1.5);
    const masked = coin({ ...twice, tis: { cap: 1.5, mode: 'mask' } });
    expect(masked.weight[0]).toBe(0);
    expect([...masked.dlogits!]).toEqual([0, 0]);
    expect(masked.statistics.truncated).toBe(1);
    expect(coin(twice).weight[0]).toBe(1);
    const unscored = coin({ oldLogp: f32(-LN2), rolloutLogp: f32(Number.NaN), tis: { cap: 0.1 } });
    expect(unscored.weight[0]).toBe(1);
    expect(unscored.statistics.rolloutTokens).toBe(0);
    expect(summarise(unscored.statistics).logp_difference).toBeNull();
  });

  it.each([
    { apart: 1e-6, weight: 1, truncated: 0 },
    { apart: 5e-5, weight: 1, truncated: 0 },
    { apart: 1e-3, weight: 0, truncated: 1 },
  ])('masks a weight of exp($apart) at cap 1: $truncated', ({ apart, weight, truncated }) => {
    const got = coin({ oldLogp: f32(-LN2), rolloutLogp: f32(-LN2 - apart), tis: { cap: 1, mode: 'mask' } });
    expect(got.weight[0]).toBe(weight);
    expect(got.statistics.truncated).toBe(truncated);
  });

  it('an absent old policy is the current one, also for the importance weight', () => {
    const got = coin({ rolloutLogp: f32(-LN2 + Math.log(2)), tis: { cap: 1 } });
    expect(got.ratio[0]).toBe(1);
    expect(got.weight[0]).toBeCloseTo(0.5, 5);
    expect(got.statistics.logpDifference).toBeCloseTo(LN2, 5);
  });

  it.each([
    { estimator: 'k1' as const, value: -LN2, slope: 1 },
    { estimator: 'k2' as const, value: LN2 ** 2 / 2, slope: -LN2 },
    { estimator: 'k3' as const, value: 2 - LN2 - 1, slope: -1 },
  ])('adds $estimator of logf - logp = ln 2', ({ estimator, value, slope }) => {
    const got = coin({ advantage: f32(0), refLogp: f32(0), kl: { beta: 0.5, estimator } });
    expect(got.tokenLoss[0]).toBeCloseTo(0.5 * value, 5);
    expect(got.statistics.referenceKl).toBeCloseTo(value, 5);
    expect(got.dlogits![0]).toBeCloseTo(0.5 * slope * 0.5, 5);
  });

  it('a KL difference beyond 20 is clamped and has no gradient', () => {
    const got = coin({ advantage: f32(0), refLogp: f32(-50), kl: { beta: 1, estimator: 'k1' } });
    expect(got.tokenLoss[0]).toBe(20);
    expect([...got.dlogits!]).toEqual([0, 0]);
  });

  it('an entropy bonus pushes towards the uniform distribution', () => {
    const got = coin({ logits: f32(1, 0), advantage: f32(0), entropyCoefficient: 1 });
    expect(got.tokenLoss[0]).toBeCloseTo(-got.entropy[0]!, 6);
    expect(got.dlogits![0]).toBeGreaterThan(0.1);
    expect(got.dlogits![0]! + got.dlogits![1]!).toBeCloseTo(0, 6);
  });
});

describe('policyLoss of several tokens', () => {
  it('gspo shares the geometric mean ratio over the unmasked tokens of a sequence', () => {
    const log = (x: number) => -LN2 - Math.log(x);
    const got = policyLoss({
      logits: new Float32Array(8),
      vocabulary: 2,
      target: ids(0, 0, 0, 0),
      mask: Uint8Array.of(1, 1, 0, 1),
      scale: f32(1, 1, 1, 1),
      oldLogp: f32(log(2), log(8), log(1e6), log(3)),
      sequenceOffsets: ids(0, 3, 4),
      kind: 'gspo',
      clipHigh: 9,
    });
    expect([...got.ratio].map((r) => Number(r.toFixed(4)))).toEqual([4, 4, 0, 3]);
    expect(got.dlogits![0]).toBeCloseTo(-4 * 0.5, 4);
  });

  it('sequence weights are geometric means over the tokens that the rollout scored', () => {
    const got = policyLoss({
      logits: new Float32Array(8),
      vocabulary: 2,
      target: ids(0, 0, 0, 0),
      scale: f32(1, 1, 1, 1),
      rolloutLogp: f32(-LN2 - Math.log(2), -LN2 - Math.log(8), Number.NaN, Number.NaN),
      sequenceOffsets: ids(0, 3, 4),
      tis: { cap: 100, level: 'sequence' },
    });
    expect([...got.weight].map((w) => Number(w.toFixed(4)))).toEqual([4, 4, 4, 1]);
  });

  it('rows without loss have a gradient of exactly 0, whatever stands in them', () => {
    const logits = f32(Number.NaN, 1, 5, 2, Number.POSITIVE_INFINITY, 0, -Infinity, 1, -Infinity, -Infinity);
    const got = policyLoss({
      logits,
      vocabulary: 2,
      target: ids(0, -1, 0, 0, 0),
      mask: Uint8Array.of(0, 1, 0, 1, 1),
      scale: f32(1, 1, 1, 1, 1),
      entropyCoefficient: 1,
    });
    expect([...got.dlogits!]).toEqual(new Array(10).fill(0));
    expect([...got.logp]).toEqual([0, 0, 0, -Infinity, -Infinity]);
    expect(got.statistics).toMatchObject({ tokens: 0, ignored: 3, excluded: 2, nonfinite: 0, loss: 0 });
  });

  it('excluded entries have neither mass nor gradient', () => {
    const got = coin({ logits: f32(0, -Infinity, 0), vocabulary: 3, entropyCoefficient: 0.1 });
    expect(got.logp[0]).toBeCloseTo(-LN2, 6);
    expect(got.entropy[0]).toBeCloseTo(LN2, 6);
    expect(got.dlogits![1]).toBe(0);
    expect(got.dlogits![0]).toBeCloseTo(-0.5, 6);
  });

  it('counts tokens that must not be stepped on', () => {
    const got = coin({ logits: f32(Number.NaN, 0), nonfinite: 'count' });
    expect(got.statistics.nonfinite).toBe(1);
    expect(got.dlogits![1]).toBeNaN();
  });

  it('approx_kl is clamped where the ratio is: at a log-ratio of 80', () => {
    const { statistics, ratio } = coin({ oldLogp: f32(-3e38), advantage: f32(0), nonfinite: 'count' });
    expect(statistics.approxKl / (Math.exp(80) - 81)).toBeCloseTo(1, 9);
    expect(ratio[0]! / Math.exp(80)).toBeCloseTo(1, 5);
    expect(coin({ oldLogp: f32(3e38) }).statistics.approxKl).toBeCloseTo(79, 9);
  });

  it('statistics name what cleanrl and verl name', () => {
    const got = withRatio(2, { advantage: f32(1), scale: f32(0.5) });
    const summary = summarise(got.statistics);
    expect(summary.loss).toBeCloseTo(-0.64, 5);
    expect(summary.approx_kl).toBeCloseTo(1 - LN2, 5);
    expect(summary).toMatchObject({
      tokens: 1,
      clipfrac: 1,
      weight_mean: 1,
      weight_max: 1,
      truncated: 0,
      reference_kl: null,
    });
    expect(summary.entropy).toBeCloseTo(LN2, 5);
  });

  it('no tokens: no loss', () => {
    const got = policyLoss({ logits: f32(), vocabulary: 3, target: ids(), scale: f32() });
    expect(got.statistics).toMatchObject({ tokens: 0, loss: 0 });
    expect(got.dlogits!.length).toBe(0);
  });
});

describe('memory', () => {
  it('honours byteOffset and row stride, and leaves the columns between alone', () => {
    const buffer = f32(7, 0, 0, 7, 7, Math.log(3), 0, 7, 7);
    const dlogits = new Float32Array(8).fill(9);
    const got = policyLoss({
      logits: buffer.subarray(1),
      vocabulary: 2,
      stride: 4,
      target: ids(7, 0, 0).subarray(1),
      scale: f32(1, 1),
      dlogits,
    });
    expect(got.logp[1]).toBeCloseTo(Math.log(0.75), 6);
    expect([...dlogits].map((x) => Number(x.toFixed(4)))).toEqual([-0.5, 0.5, 9, 9, -0.25, 0.25, 9, 9]);
  });

  it('computes no gradient when none is wanted', () => {
    expect(coin({ dlogits: null }).dlogits).toBeNull();
  });

  it.each([
    [
      { scale: new Float64Array(1) as never },
      'Expected Float32Array of length 1 for scale but received Float64Array of length 1',
    ],
    [{ mask: Uint8Array.of(1, 1) }, 'Expected Uint8Array of length 1 for mask but received Uint8Array of length 2'],
    [{ logits: f32(0) }, 'Expected Float32Array or Uint16Array (bf16) of at least 2 elements for logits'],
    [{ target: ids(2) }, 'Expected an index below 2 for target[0] but received 2'],
    [{ kind: 'ppo' as never }, 'Expected one of grpo, gspo, cispo, sft for kind but received "ppo"'],
    [{ temperature: 0 }, 'Expected a number from 0.000001 to 1000000 for temperature but received 0'],
    [{ temperature: 1e-300 }, 'Expected a number from 0.000001 to 1000000 for temperature but received 1e-300'],
    [{ temperature: 1e60 }, 'Expected a number from 0.000001 to 1000000 for temperature but received 1e+60'],
    [{ kl: 0 as never }, 'Expected an object for kl but received 0'],
    [{ kl: Number.NaN as never }, 'Expected an object for kl but received NaN'],
    [{ kl: false as never }, 'Expected an object for kl but received false'],
    [{ tis: '' as never }, 'Expected an object for tis but received ""'],
    [{ tis: 0 as never }, 'Expected an object for tis but received 0'],
    [{ tis: { cap: Number.NaN } }, 'Expected a number for tis.cap but received NaN'],
    [
      { kind: 'gspo' as const },
      "Expected Int32Array (kind 'gspo' needs it) for sequenceOffsets but received undefined",
    ],
    [{ sequenceOffsets: ids(0, 2) }, 'Expected 1 for sequenceOffsets[1] but received 2'],
  ])('refuses what does not fit: %#', (options, message) => {
    expect(() => coin(options)).toThrow(message);
  });

  it('refuses a detached array', () => {
    const scale = f32(1);
    structuredClone(scale.buffer, { transfer: [scale.buffer] });
    expect(() => coin({ scale })).toThrow(/for scale but received Float32Array/);
  });
});

describe('logpEntropy', () => {
  it('gives -inf for an excluded target, 0 for none, and exact entropies', () => {
    const got = logpEntropy({ logits: f32(0, 0, -Infinity, 0, Math.log(3), 0), vocabulary: 2, target: ids(1, 0, -1) });
    expect(got.logp[0]).toBeCloseTo(-LN2, 6);
    expect([...got.logp].slice(1)).toEqual([-Infinity, 0]);
    expect(got.entropy[0]).toBeCloseTo(LN2, 6);
    expect(got.entropy[1]).toBe(0);
    expect(got.entropy[2]).toBeCloseTo(0.5623, 4);
  });
});
