import { describe, expect, it } from 'vitest';
import { adamw, gradientNorm } from './index.ts';

const f32 = (...values: number[]) => Float32Array.from(values);

function tensor(parameter: Float32Array, gradient: Float32Array) {
  const zeros = () => new Float32Array(parameter.length);
  return { parameter, gradient, firstMoment: zeros(), secondMoment: zeros() };
}

describe('adamw', () => {
  it('the first step moves each parameter by the learning rate against its gradient', () => {
    const t = tensor(f32(1, 1, 1), f32(0.5, -20, 0));
    const result = adamw({ tensors: [t], step: 1, learningRate: 0.1 });
    expect(result.applied).toBe(true);
    expect([...t.parameter].map((p) => Number(p.toFixed(5)))).toEqual([0.9, 1.1, 1]);
    expect(t.firstMoment[0]).toBeCloseTo(0.05, 6);
    expect(t.secondMoment[0]).toBeCloseTo(0.00025, 8);
  });

  it('weight decay is decoupled from the gradient and may differ by tensor', () => {
    const tensors = [tensor(f32(2), f32(0)), { ...tensor(f32(2), f32(0)), weightDecay: 0 }];
    adamw({ tensors, step: 1, learningRate: 0.1, weightDecay: 0.5 });
    expect(tensors.map((t) => t.parameter[0])).toEqual([Math.fround(2 * Math.fround(0.95)), 2]);
  });

  it('clips by the norm over all tensors', () => {
    const clipped = [tensor(f32(0), f32(3)), tensor(f32(0), f32(4))];
    const result = adamw({ tensors: clipped, step: 1, learningRate: 0.1, maxGradNorm: 1 });
    expect(result.gradNorm).toBe(5);
    expect(result.clipFactor).toBeCloseTo(0.2, 6);
    expect(clipped.map((t) => Number(t.firstMoment[0]!.toFixed(5)))).toEqual([0.06, 0.08]);
    expect(adamw({ tensors: [tensor(f32(0), f32(3))], step: 1, learningRate: 0.1, maxGradNorm: 10 }).clipFactor).toBe(
      1,
    );
  });

  it('reports gradients that are not finite and changes nothing', () => {
    const t = tensor(f32(1, 2), f32(Number.NaN, Number.POSITIVE_INFINITY));
    const other = tensor(f32(3), f32(1));
    const result = adamw({ tensors: [other, t], step: 1, learningRate: 0.1 });
    expect(result).toMatchObject({ applied: false, nonfinite: 2, clipFactor: 0 });
    expect([...t.parameter, ...other.parameter, ...other.firstMoment]).toEqual([1, 2, 3, 0]);
  });

  it.each([
    [{ epsilon: 0 }, 'Expected a number that is above 0 in f32 for epsilon but received 0'],
    [{ epsilon: 1e-60 }, 'Expected a number that is above 0 in f32 for epsilon but received 1e-60'],
    [{ learningRate: 1e39 }, /^Expected a number from 0 to 3\.40\d+e\+38 for learningRate but received 1e\+39$/],
    [{ learningRate: 1e38 }, 'Expected a number whose step is within f32 for learningRate but received 1e+38'],
    [{ learningRate: 1e30, weightDecay: 1e10 }, 'a number whose step is within f32 for weightDecay but received'],
    [{ beta2: 0.999999999 }, /^Expected a number from 0 to 0\.99999994\d+ for beta2 but received 0\.999999999$/],
  ])('refuses numbers that are others in f32: %j', (more, message) => {
    const t = tensor(f32(1), f32(0));
    expect(() => adamw({ tensors: [t], step: 1, learningRate: 0.1, ...more })).toThrow(message);
    expect(t.parameter[0]).toBe(1);
  });

  it('takes the least epsilon and a great rate that f32 holds, and keeps a weight without gradient', () => {
    const t = tensor(f32(1), f32(0));
    expect(adamw({ tensors: [t], step: 1, learningRate: 1e37, epsilon: 1e-44 }).applied).toBe(true);
    expect(t.parameter[0]).toBe(1);
  });

  it('takes weights of 16 bits beside an f16 gradient only if they are said to be bf16', () => {
    // 2 in bf16; its first step at rate 1 ends at 1.
    const t = { ...tensor(f32(0), f32(1)), parameter: Uint16Array.of(0x4000), precision: 'f16' as const };
    expect(() => adamw({ tensors: [t], step: 1, learningRate: 1 })).toThrow(
      /^Expected "bf16" \(weights of 16 bits .*\) for tensors\[0\]\.parameterPrecision but received undefined$/,
    );
    expect(() => adamw({ tensors: [{ ...t, parameterPrecision: 'f16' as never }], step: 1, learningRate: 1 })).toThrow(
      'Expected one of bf16 for tensors[0].parameterPrecision but received "f16"',
    );
    adamw({ tensors: [{ ...t, parameterPrecision: 'bf16' }], step: 1, learningRate: 1 });
    expect(t.parameter[0]).toBe(0x3f80);
  });

  it('refuses arrays that do not belong together', () => {
    const bad = { ...tensor(f32(1, 2), f32(1, 2)), firstMoment: f32(0) };
    expect(() => adamw({ tensors: [bad], step: 1, learningRate: 0.1 })).toThrow(
      'Expected Float32Array of length 2 for tensors[0].firstMoment but received Float32Array of length 1',
    );
    expect(() => adamw({ tensors: [], step: 0, learningRate: 0.1 })).toThrow('integer of at least 1 for step');
  });
});

describe('gradientNorm', () => {
  it('sums in double: a million ones and the tail of a block', () => {
    const { norm, nonfinite } = gradientNorm([new Float32Array(1_000_003).fill(1), f32(0, 0)]);
    expect(norm).toBe(Math.sqrt(1_000_003));
    expect(nonfinite).toBe(0);
  });

  it('squares that f32 cannot hold do not overflow', () => {
    expect(gradientNorm([f32(3e30, 4e30)]).norm / 5e30).toBeCloseTo(1, 6);
  });
});
