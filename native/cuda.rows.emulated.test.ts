import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../lib/stream/shared.testing.ts';
import {
  anyWideRows,
  apart,
  f16FromNumbers,
  noise,
  numbersOf,
  onPath,
  PATHS,
  useEmulatedCuda,
  wideInput,
} from './cuda.emulated.testing.ts';
import { bf16FromNumbers } from './golden/bf16.ts';
import { goldenCases } from './golden/cases.ts';
import { logpEntropy, policyLoss } from './index.ts';

/** Every way that a row of logits can take through a GPU (kernels/cuda/plan.cuh), forced by an invented GPU's limits. */
beforeAll(useEmulatedCuda, 120_000);

const golden = shared && existsSync(join(shared, 'golden')) ? goldenCases(join(shared, 'golden')) : [];

describe.each(PATHS)('a row kept in $name', (path) => {
  const { vocabulary, cluster, keeps } = path;
  const rows = 5;
  const input = () => ({
    logits: noise(rows * vocabulary, 7),
    vocabulary,
    target: Int32Array.of(0, vocabulary - 1, 2, 77, -1),
    mask: Uint8Array.of(1, 1, 0, 1, 1),
    scale: new Float32Array(rows).fill(0.5),
    oldLogp: new Float32Array(rows).fill(-6),
    entropyCoefficient: 0.01,
  });

  it('takes that path, and gives what the CPU gives, twice the same', () => {
    const cpu = policyLoss(input());
    const { result, launches } = onPath(path, () => policyLoss({ ...input(), device: 'cuda' }));
    const [blocks, , blocksOfRow, bytes] = launches[0]!;
    expect([blocks, blocksOfRow]).toEqual([rows * cluster, cluster]);
    expect(bytes - keeps).toBeGreaterThan(0);
    expect(bytes - keeps).toBeLessThan(128);
    expect(apart(cpu.dlogits!, result.dlogits!)).toBeLessThan(1e-6);
    expect(apart(cpu.logp, result.logp)).toBeLessThan(1e-6);
    expect(apart(cpu.entropy, result.entropy)).toBeLessThan(1e-6);
    expect(onPath(path, () => policyLoss({ ...input(), device: 'cuda' })).result).toEqual(result);
  });

  it('in place; rows without loss are exactly 0, an excluded target keeps its -inf', () => {
    const given = input();
    given.logits[vocabulary * 3 + 77] = -Infinity;
    const { result } = onPath(path, () => policyLoss({ ...given, dlogits: given.logits, device: 'cuda' }));
    for (const row of [2, 3, 4]) {
      expect(given.logits.subarray(row * vocabulary, (row + 1) * vocabulary)).toEqual(new Float32Array(vocabulary));
    }
    expect([...result.logp].slice(2)).toEqual([0, -Infinity, 0]);
    expect(result.statistics).toMatchObject({ tokens: 2, ignored: 2, excluded: 1, nonfinite: 0 });
  });

  it('a NaN or an infinite logit spoils its own row and no other', () => {
    const given = input();
    given.logits[5] = NaN;
    given.logits[vocabulary + 3] = Infinity;
    const { result } = onPath(path, () => policyLoss({ ...given, nonfinite: 'count', device: 'cuda' }));
    expect(result.statistics).toMatchObject({ tokens: 3, nonfinite: 2 });
    expect(result.dlogits!.subarray(0, 2 * vocabulary).every(Number.isNaN)).toBe(true);
    const clean = policyLoss(input()).dlogits!.subarray(3 * vocabulary, 4 * vocabulary);
    expect(apart(clean, result.dlogits!.subarray(3 * vocabulary, 4 * vocabulary))).toBeLessThan(1e-6);
  });

  it.skipIf(golden.length === 0)('agrees with the golden numbers of rows of odd width', () => {
    for (const { name, run } of golden.filter((one) => one.name.includes('odd vocabulary'))) {
      for (const [output, { share }] of Object.entries(onPath(path, () => run('cuda')).result)) {
        expect(share, `${name}: ${output}`).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe('rows of every type, path, width and stride', () => {
  it('policyLoss agrees with the CPU, and leaves what is between rows alone', () => {
    fc.assert(
      fc.property(anyWideRows, (rows) => {
        const { path, inPlace, wideGradient } = rows;
        const input = wideInput(rows);
        const run = (device: 'cpu' | 'cuda') => {
          const logits = input.logits.slice();
          const other = wideGradient ? new Float32Array(logits.length).fill(9) : logits.slice();
          return policyLoss({ ...input, logits, dlogits: inPlace ? logits : other, device });
        };
        const cpu = run('cpu');
        const cuda = onPath(path, () => run('cuda')).result;
        for (const name of ['logp', 'entropy', 'ratio', 'weight', 'tokenLoss'] as const) {
          expect(apart(cpu[name], cuda[name]), name).toBeLessThan(1e-5);
        }
        expect(apart(Object.values(cpu.statistics), Object.values(cuda.statistics))).toBeLessThan(1e-5);
        const rounding = cpu.dlogits instanceof Float32Array ? 0 : input.precision === 'f16' ? 2 ** -10 : 2 ** -7;
        const [want, got] = [numbersOf(cpu.dlogits!, input.precision), numbersOf(cuda.dlogits!, input.precision)];
        want.forEach((x, i) => {
          if (Math.abs(x - got[i]!) > 1e-6 + (1e-5 + rounding) * Math.abs(x)) expect(got[i], `dlogits ${i}`).toBe(x);
        });
        expect(onPath(path, () => run('cuda')).result).toEqual(cuda);
      }),
      { numRuns: 60 },
    );
  });

  it.each(['f32', 'bf16', 'f16'] as const)('logpEntropy of %s rows', (type) => {
    for (const vocabulary of [1, 2, 7, 8, 513, 1031]) {
      const numbers = noise(4 * vocabulary, vocabulary);
      const logits = type === 'f32' ? numbers : type === 'bf16' ? bf16FromNumbers(numbers) : f16FromNumbers(numbers);
      const precision = type === 'f16' ? 'f16' : 'bf16';
      const input = { logits, precision, vocabulary, target: Int32Array.of(0, vocabulary - 1, -1, 0) } as const;
      const cpu = logpEntropy({ ...input, temperature: 0.7 });
      const cuda = logpEntropy({ ...input, temperature: 0.7, device: 'cuda' });
      expect(apart(cpu.logp, cuda.logp)).toBeLessThan(1e-6);
      expect(apart(cpu.entropy, cuda.entropy)).toBeLessThan(2e-6);
      expect(cuda.logp[2]).toBe(0);
    }
  });
});
