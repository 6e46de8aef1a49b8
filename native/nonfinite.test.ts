import { describe, expect, it } from 'vitest';
import { useEmulatedCuda } from './cuda.emulated.testing.ts';
import { type Logits, logpEntropy, type PolicyLossInput, policyLoss } from './index.ts';
import { isFiniteAt } from './precision.ts';

useEmulatedCuda();

const f32 = (...values: number[]) => Float32Array.from(values);
const ids = (...values: number[]) => Int32Array.from(values);
/** Two f16 or bf16 zeros: equally likely, so that a gradient is half of scale * advantage. */
const zeros = () => new Uint16Array(2);
const GREATEST = 3.4e38;

/** One token of two equal choices, scored at scale 1 and advantage 1 unless the case says otherwise. */
interface Case {
  name: string;
  options: Partial<PolicyLossInput>;
  nonfinite: 0 | 1;
}

const f16 = (scale: number): Partial<PolicyLossInput> => ({ logits: zeros(), precision: 'f16', scale: f32(scale) });
const CASES: Case[] = [
  { name: 'an f16 gradient of 65,000', options: f16(130_000), nonfinite: 0 },
  { name: 'an f16 gradient of 65,536', options: f16(131_072), nonfinite: 1 },
  { name: 'the same in f32', options: { ...f16(131_072), dlogits: f32(0, 0) }, nonfinite: 0 },
  { name: 'the same in bf16', options: { ...f16(131_072), precision: 'bf16' }, nonfinite: 0 },
  { name: 'the same where no gradient is wanted', options: { ...f16(131_072), dlogits: null }, nonfinite: 0 },
  {
    name: 'an f16 gradient of 65,536 by the temperature',
    options: { ...f16(128), temperature: 2 ** -10 },
    nonfinite: 1,
  },
  { name: 'f16, ignored', options: { ...f16(131_072), target: ids(-1) }, nonfinite: 0 },
  {
    name: 'an f16 gradient of an entropy bonus',
    options: { ...f16(131_072), logits: Uint16Array.of(0x4000, 0), advantage: f32(0), entropyCoefficient: 10 },
    nonfinite: 1,
  },
  { name: 'scale * loss beyond f32', options: { scale: f32(10), advantage: f32(3e38) }, nonfinite: 1 },
  { name: 'scale * loss within f32', options: { scale: f32(1), advantage: f32(3e38) }, nonfinite: 0 },
  {
    name: 'a loss beyond f32: exp(80) * 1e4',
    options: { oldLogp: f32(-100), advantage: f32(-1e4) },
    nonfinite: 1,
  },
  { name: 'exp(80) alone', options: { oldLogp: f32(-100), advantage: f32(-1) }, nonfinite: 0 },
  {
    name: 'a gradient beyond f32 by the temperature alone',
    options: { scale: f32(GREATEST), temperature: 0.25 },
    nonfinite: 1,
  },
];

const finite = (values: Logits | null, precision: 'bf16' | 'f16' = 'bf16') =>
  values === null || Array.from(values).every((_, i) => isFiniteAt(values, i, precision));

describe.each(['cpu', 'cuda'] as const)('statistics.nonfinite on %s', (device) => {
  const loss = (options: Partial<PolicyLossInput>) =>
    policyLoss({ logits: f32(0, 0), vocabulary: 2, target: ids(0), scale: f32(1), ...options, device });

  it.each(CASES)('$name: $nonfinite', ({ options, nonfinite }) => {
    const got = loss({ ...options, nonfinite: 'count' });
    expect(got.statistics.nonfinite).toBe(nonfinite);
    const own = [got.logp, got.entropy, got.ratio, got.weight, got.tokenLoss].every((values) => finite(values));
    const whole = own && finite(got.dlogits, options.precision) && Math.abs(got.statistics.loss) < GREATEST;
    expect(whole).toBe(nonfinite === 0);
  });

  it.each(CASES.filter((one) => one.nonfinite === 1))('$name is refused by default', ({ options }) => {
    expect(() => loss(options)).toThrow(TypeError);
    expect(() => loss(options)).toThrow(/^Expected .* but received others/);
  });

  it('names the row of a gradient and its type', () => {
    const rows = { target: ids(0, 0), logits: new Uint16Array(4), precision: 'f16' as const, scale: f32(1, 131_072) };
    expect(() => loss(rows)).toThrow(
      'Expected scales, advantages and temperature whose loss and gradient are within f16 but received others in row 1',
    );
  });

  it('the ends of the range of temperatures give finite numbers', () => {
    for (const temperature of [1e-6, 1e6]) {
      const { logp, entropy } = logpEntropy({ logits: f32(1, 0), vocabulary: 2, target: ids(1), temperature, device });
      const sharp = temperature < 1;
      // Odds of e^(1 / T).
      expect(logp[0]).toBeCloseTo(sharp ? -1e6 : -Math.LN2, 5);
      expect(entropy[0]).toBeCloseTo(sharp ? 0 : Math.LN2, 5);
      expect(finite(loss({ logits: f32(1, 0), temperature }).dlogits)).toBe(true);
    }
  });
});
