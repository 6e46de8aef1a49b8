import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { shared } from '../lib/stream/shared.testing.ts';
import { native } from './addon.ts';
import { apart, f16FromNumbers, noise, numbersOf, useEmulatedCuda } from './cuda.emulated.testing.ts';
import { bf16FromNumbers } from './golden/bf16.ts';
import { goldenCases } from './golden/cases.ts';
import { adamw, deviceStatus, dpo, gradientNorm, kto, policyLoss, selectSteps, stepEntropy } from './index.ts';
import { anyPolicyInput } from './policy.testing.ts';

/**
 * The CUDA sources, compiled as C++ with kernels/cuda/emulate.h and opened by the addon as its CUDA library: the kernels,
 * their barriers, clusters and the copies to and from the device are those of a GPU, the arithmetic that of this machine.
 */
beforeAll(useEmulatedCuda, 120_000);

const golden = shared && existsSync(join(shared, 'golden')) ? goldenCases(join(shared, 'golden')) : [];

describe.skipIf(golden.length === 0)('golden numbers on emulated CUDA', () => {
  it.each(golden)('$file: $name', ({ run }) => {
    for (const [output, { share }] of Object.entries(run('cuda'))) expect(share, output).toBeLessThanOrEqual(1);
  });
});

describe('emulated CUDA', () => {
  it('is what these tests run on', () => {
    expect(deviceStatus()).toEqual({ device: 'cuda', text: 'kernels on emulated GPU, compute 9.0, 0 GiB' });
  });

  it('a device is asked for its name but once, whatever runs on it', () => {
    const { addon, cudaLibrary } = native();
    const folder = mkdtempSync(join(tmpdir(), 'dart-device-'));
    const fresh = join(folder, 'libdart_cuda.so');
    copyFileSync(cudaLibrary, fresh);
    const status = (library: string) => addon.cudaStatus({ cudaLibrary: library, deviceIndex: 0 }).text;
    const before = status(cudaLibrary);
    vi.stubEnv('DART_EMULATE_NAME', 'another GPU');
    try {
      expect(status(fresh)).toBe('another GPU, compute 9.0, 0 GiB');
      expect(gradientNorm([Float32Array.of(3, 4)], 'cuda').norm).toBe(5);
      expect(status(cudaLibrary)).toBe(before);
    } finally {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    }
  });

  it('policyLoss agrees with the CPU whatever the options', () => {
    fc.assert(
      fc.property(anyPolicyInput, (input) => {
        const cpu = policyLoss(input);
        const cuda = policyLoss({ ...input, device: 'cuda' });
        for (const name of ['logp', 'entropy', 'ratio', 'weight', 'tokenLoss', 'dlogits'] as const) {
          expect(apart(cpu[name]!, cuda[name]!), name).toBeLessThan(1e-5);
        }
        expect(apart(Object.values(cpu.statistics), Object.values(cuda.statistics))).toBeLessThan(1e-5);
        expect(policyLoss({ ...input, device: 'cuda' })).toEqual(cuda);
      }),
      { numRuns: 25 },
    );
  });

  it('in place, with a stride, with rows without loss and excluded entries', () => {
    const logits = Float32Array.of(0, 0, 9, Number.NaN, 0, 9, -Infinity, 1, 9, 1, -Infinity, 9);
    const options = { vocabulary: 2, stride: 3, target: Int32Array.of(0, 1, 0, 0), mask: Uint8Array.of(1, 0, 1, 1) };
    const scale = new Float32Array(4).fill(1);
    const got = policyLoss({ ...options, logits, scale, dlogits: logits, device: 'cuda' });
    expect(got.dlogits).toBe(logits);
    expect([...logits]).toEqual([-0.5, 0.5, 9, 0, 0, 9, 0, 0, 9, 0, 0, 9]);
    expect(got.logp[0]).toBeCloseTo(-Math.LN2, 6);
    expect([...got.logp].slice(1)).toEqual([0, -Infinity, 0]);
    expect(got.statistics).toMatchObject({ tokens: 2, ignored: 1, excluded: 1, nonfinite: 0 });
  });

  it('step entropies and selections are the same numbers', () => {
    const steps = 300;
    const stepOffsets = Int32Array.from({ length: steps + 1 }, (_, i) => 2 * i);
    const tokenEntropy = Float32Array.from({ length: 2 * steps }, (_, i) => Math.round(5 + 5 * Math.sin(i)) / 4);
    const mask = Uint8Array.from(tokenEntropy, (_, i) => (i % 14 > 1 ? 1 : 0));
    const cpu = stepEntropy({ tokenEntropy, mask, stepOffsets });
    expect(stepEntropy({ tokenEntropy, mask, stepOffsets, device: 'cuda' })).toEqual(cpu);
    const stepGroup = Int32Array.from({ length: steps }, (_, i) => (i * 7) % 5);
    const options = { stepEntropy: cpu, stepGroup, groups: 6, keep: 0.8 };
    expect(selectSteps({ ...options, device: 'cuda' })).toEqual(selectSteps(options));
  });

  const types = ['f32', 'bf16', 'f16'] as const;
  const optimizers = types.flatMap((gradient) =>
    ['f32', 'bf16', 'bf16 with master'].map((weights) => ({ gradient, weights })),
  );
  it.each(optimizers)('adamw of $weights weights with a $gradient gradient is the same within rounding', (one) => {
    for (const size of [1, 7, 8, 5003]) {
      const make = () => {
        const [weights, gradient] = [noise(size, 1), noise(size, 2)];
        const half = one.gradient === 'f16' ? f16FromNumbers : bf16FromNumbers;
        return {
          parameter: one.weights === 'f32' ? weights : bf16FromNumbers(weights),
          master: one.weights === 'bf16 with master' ? weights : null,
          gradient: one.gradient === 'f32' ? gradient : half(gradient),
          precision: one.gradient === 'f16' ? ('f16' as const) : ('bf16' as const),
          parameterPrecision: 'bf16' as const,
          firstMoment: new Float32Array(size).fill(0.1),
          secondMoment: new Float32Array(size).fill(0.2),
        };
      };
      const [a, b] = [make(), make()];
      const options = { step: 3, learningRate: 0.01, weightDecay: 0.1, maxGradNorm: 1 };
      const cpu = adamw({ tensors: [a], ...options });
      const cuda = adamw({ tensors: [b], ...options, device: 'cuda' });
      expect(Math.abs(cuda.gradNorm - cpu.gradNorm)).toBeLessThan(1e-9 * cpu.gradNorm);
      expect(apart(numbersOf(a.parameter), numbersOf(b.parameter))).toBeLessThan(
        one.weights === 'f32' ? 1e-6 : 2 ** -7,
      );
      if (a.master) expect(apart(a.master, b.master!)).toBeLessThan(1e-6);
      expect(apart(a.firstMoment, b.firstMoment)).toBeLessThan(1e-6);
      expect(apart(a.secondMoment, b.secondMoment)).toBeLessThan(1e-6);
    }
  });

  it('a gradient with a NaN changes nothing', () => {
    const gradient = noise(70_001, 3);
    expect(gradientNorm([gradient], 'cuda').norm).toBeCloseTo(gradientNorm([gradient]).norm, 9);
    gradient[70_000] = Number.NaN;
    expect(gradientNorm([gradient], 'cuda').nonfinite).toBe(1);
    const tensor = { parameter: noise(70_001, 4), firstMoment: noise(70_001, 5), secondMoment: noise(70_001, 6) };
    const { applied } = adamw({ tensors: [{ ...tensor, gradient }], step: 1, learningRate: 1, device: 'cuda' });
    expect(applied).toBe(false);
    expect(tensor.parameter).toEqual(noise(70_001, 4));
  });

  it('preference slopes are the same', () => {
    const some = (k: number) => Float64Array.from({ length: 300 }, (_, i) => -5 * Math.abs(Math.sin(k * (i + 1))));
    const pairs = {
      policyChosen: some(1),
      policyRejected: some(2),
      refChosen: some(3),
      refRejected: some(4),
      beta: 0.3,
    };
    expect(apart(dpo(pairs).dPolicyChosen, dpo({ ...pairs, device: 'cuda' }).dPolicyChosen)).toBeLessThan(1e-12);
    const labels = {
      policy: some(1),
      ref: some(2),
      desirable: Uint8Array.from(some(5), (x) => (x < -2 ? 1 : 0)),
      beta: 0.3,
      referencePoint: 0.1,
    };
    const [cpu, cuda] = [kto(labels), kto({ ...labels, device: 'cuda' })];
    expect(cuda.loss).toBeCloseTo(cpu.loss, 12);
    expect(apart(cpu.dPolicy, cuda.dPolicy)).toBeLessThan(1e-12);
  });
});
