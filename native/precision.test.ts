import { describe, expect, it } from 'vitest';
import { type AdamwTensor, adamw, gradientNorm, type HalfPrecision, logpEntropy, policyLoss } from './index.ts';

/** 16 bits of small integers and simple fractions, by hand: sign, exponent, fraction. */
const BITS: Record<HalfPrecision, Record<string, number>> = {
  bf16: {
    0: 0,
    1: 0x3f80,
    2: 0x4000,
    '-2': 0xc000,
    0.5: 0x3f00,
    '-0.5': 0xbf00,
    nan: 0x7fc0,
    inf: 0x7f80,
    '-inf': 0xff80,
  },
  f16: {
    0: 0,
    1: 0x3c00,
    2: 0x4000,
    '-2': 0xc000,
    0.5: 0x3800,
    '-0.5': 0xb800,
    nan: 0x7e00,
    inf: 0x7c00,
    '-inf': 0xfc00,
  },
};
const bits = (precision: HalfPrecision, ...values: (number | string)[]) =>
  Uint16Array.from(values, (value) => BITS[precision][value]!);

describe.each(['bf16', 'f16'] as const)('%s', (precision) => {
  const coin = { vocabulary: 2, target: Int32Array.of(0), scale: Float32Array.of(1), precision };

  it('logits give the numbers that f32 logits of the same value give', () => {
    const half = policyLoss({ ...coin, logits: bits(precision, 2, 0.5), dlogits: new Float32Array(2) });
    const full = policyLoss({ ...coin, logits: Float32Array.of(2, 0.5) });
    expect(half.logp).toEqual(full.logp);
    expect(half.dlogits).toEqual(full.dlogits);
    const rows = { vocabulary: 2, target: coin.target, precision };
    expect(logpEntropy({ ...rows, logits: bits(precision, 2, 0.5) }).entropy).toEqual(full.entropy);
  });

  it('dlogits are rounded to it, in place too', () => {
    const logits = bits(precision, 0, 0);
    const got = policyLoss({ ...coin, logits, dlogits: logits });
    expect(got.dlogits).toBe(logits);
    expect(logits).toEqual(bits(precision, '-0.5', 0.5));
    expect(policyLoss({ ...coin, logits: bits(precision, 0, 0) }).dlogits).toEqual(bits(precision, '-0.5', 0.5));
  });

  it('-inf is an excluded entry, NaN and Infinity are refused by name', () => {
    expect(policyLoss({ ...coin, logits: bits(precision, 0, '-inf') }).logp[0]).toBe(0);
    for (const [bad, name] of [
      ['nan', 'NaN'],
      ['inf', 'Infinity'],
    ] as const) {
      expect(() => policyLoss({ ...coin, logits: bits(precision, 0, bad) })).toThrow(
        `Expected finite logits (or -Infinity) but received ${name} in row 0, column 1`,
      );
    }
  });

  it('gradients have the norm of their values and move weights as f32 gradients do', () => {
    const gradient = bits(precision, 1, '-2', 2, 0);
    expect(gradientNorm([gradient], 'cpu', precision)).toEqual({ norm: 3, nonfinite: 0 });
    expect(gradientNorm([bits(precision, 1, 'nan', 'inf')], 'cpu', precision).nonfinite).toBe(2);
    const make = (): AdamwTensor => ({
      parameter: new Float32Array(4).fill(1),
      gradient: Float32Array.of(1, -2, 2, 0),
      firstMoment: new Float32Array(4),
      secondMoment: new Float32Array(4),
    });
    const [half, full] = [{ ...make(), gradient, precision }, make()];
    for (const one of [half, full]) adamw({ tensors: [one], step: 1, learningRate: 0.1, maxGradNorm: 1 });
    expect(half.parameter).toEqual(full.parameter);
    expect(half.secondMoment).toEqual(full.secondMoment);
  });
});

describe('bf16 weights', () => {
  /** One weight of 2, pushed down by its gradient at the given rate. */
  const weight = (master: Float32Array | null) => ({
    parameter: bits('bf16', 2),
    gradient: Float32Array.of(1),
    firstMoment: new Float32Array(1),
    secondMoment: new Float32Array(1),
    master,
  });

  it('are rounded to nearest even: a step below half of the last place is lost', () => {
    const alone = weight(null);
    for (let step = 1; step <= 40; step++) adamw({ tensors: [alone], step, learningRate: 0.001 });
    expect(alone.parameter).toEqual(bits('bf16', 2));
    adamw({ tensors: [alone], step: 41, learningRate: 1 });
    expect(alone.parameter).toEqual(bits('bf16', 1));
  });

  it('with f32 master weights lose nothing', () => {
    const kept = weight(Float32Array.of(2));
    for (let step = 1; step <= 40; step++) adamw({ tensors: [kept], step, learningRate: 0.001 });
    expect(kept.master![0]).toBeCloseTo(1.96, 4);
    // 1.96 lies between 1.953125 (0x3ffa) and 1.9609375 (0x3ffb).
    expect([...kept.parameter]).toEqual([0x3ffb]);
  });

  it('are left alone, master and all, when a gradient is not finite', () => {
    const f16 = { gradient: bits('f16', 'inf'), precision: 'f16', parameterPrecision: 'bf16' } as const;
    const kept = { ...weight(Float32Array.of(2)), ...f16 };
    expect(adamw({ tensors: [kept], step: 1, learningRate: 1 })).toMatchObject({ applied: false, nonfinite: 1 });
    expect([kept.parameter[0], kept.master![0], kept.firstMoment[0]]).toEqual([0x4000, 2, 0]);
  });
});
