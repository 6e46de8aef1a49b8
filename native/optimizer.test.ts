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
