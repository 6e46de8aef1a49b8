import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { bf16FromNumbers, numbersFromBf16 } from './golden/bf16.ts';
import { anyPolicyInput } from './policy.testing.ts';
import type { Logits, PolicyLossInput } from './policy.ts';

/** What an invented GPU must be for a row to take a path; `cluster` is the number of blocks that share a row. */
export interface Path {
  name: string;
  compute: 80 | 90;
  /** Shared memory of a multiprocessor, bytes. */
  sharedBytes: number;
  /** Width of f32 rows that take the path there. A block keeps 512 of their elements in registers. */
  vocabulary: number;
  cluster: number;
  /** Bytes of rows in a block's shared memory. */
  keeps: number;
}

export const PATHS: readonly Path[] = [
  { name: 'registers', compute: 90, sharedBytes: 233_472, vocabulary: 500, cluster: 1, keeps: 0 },
  { name: 'shared memory', compute: 90, sharedBytes: 233_472, vocabulary: 1031, cluster: 1, keeps: 129 * 16 },
  {
    name: 'a multiprocessor for each row',
    compute: 80,
    sharedBytes: 4096,
    vocabulary: 1031,
    cluster: 1,
    keeps: 129 * 16,
  },
  { name: 'a cluster of 2', compute: 90, sharedBytes: 4096, vocabulary: 1031, cluster: 2, keeps: 16 },
  { name: 'a cluster of 4', compute: 90, sharedBytes: 4096, vocabulary: 2203, cluster: 4, keeps: 10 * 16 },
  { name: 'a cluster of 8', compute: 90, sharedBytes: 4096, vocabulary: 4403, cluster: 8, keeps: 10 * 16 },
  { name: 'two reads', compute: 80, sharedBytes: 2400, vocabulary: 1031, cluster: 1, keeps: 0 },
];

/** The CUDA sources as a library for the CPU, opened by the addon in place of the real one. */
export function useEmulatedCuda(): void {
  const library = join(import.meta.dirname, 'build', 'libdart_cuda_emulated.so');
  execFileSync('sh', [join(import.meta.dirname, 'kernels', 'cuda', 'build_emulated.sh'), library]);
  process.env.DART_CUDA_LIBRARY = library;
}

/** Differences between the two devices in units of the greatest value, 1 at least. */
export function apart(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  const scale = Array.from(a).reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1);
  const gaps = Array.from(a, (x, i) => (Object.is(x, b[i]) || x === b[i] ? 0 : Math.abs(x - b[i]!)));
  return Math.max(0, ...gaps) / scale;
}

/** A kernel's launch: blocks, threads of a block, blocks of a cluster, bytes of dynamic shared memory of a block. */
export type Launch = [number, number, number, number];

/** Runs `work` on the GPU that the path needs; the launches that it made. */
export function onPath<R>({ compute, sharedBytes }: Path, work: () => R): { result: R; launches: Launch[] } {
  const folder = mkdtempSync(join(tmpdir(), 'dart-launches-'));
  const log = join(folder, 'log');
  Object.assign(process.env, {
    DART_EMULATE_COMPUTE: String(compute),
    DART_EMULATE_SHARED_BYTES: String(sharedBytes),
    DART_EMULATE_LOG: log,
  });
  try {
    const result = work();
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    return { result, launches: lines.map((line) => line.split(' ').map(Number) as Launch) };
  } finally {
    for (const name of ['COMPUTE', 'SHARED_BYTES', 'LOG']) delete process.env[`DART_EMULATE_${name}`];
    rmSync(folder, { recursive: true });
  }
}

/** IEEE 754 half precision of numbers up to 65504, rounded towards zero: any value that a row can hold will do. */
export function f16FromNumbers(values: ArrayLike<number>): Uint16Array {
  return Uint16Array.from(new Uint32Array(Float32Array.from(values).buffer), (bits) => {
    const exponent = ((bits >>> 23) & 255) - 112;
    const sign = (bits >>> 16) & 0x8000;
    if (exponent >= 31) return sign | 0x7c00 | ((bits & 0x7fffff) > 0 ? 0x200 : 0);
    return exponent <= 0 ? sign : sign | (exponent << 10) | ((bits >>> 13) & 0x3ff);
  });
}

function numbersFromF16(values: Uint16Array): Float32Array {
  return Float32Array.from(values, (bits) => {
    const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >>> 10) & 31, bits & 1023];
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
}

export function numbersOf(values: Logits, precision: 'bf16' | 'f16' = 'bf16'): Float32Array {
  if (values instanceof Float32Array) return values;
  return precision === 'f16' ? numbersFromF16(values) : numbersFromBf16(values);
}

/** Numbers that look random, within +-6, the same for the same seed. */
export function noise(length: number, seed: number): Float32Array {
  let state = seed >>> 0;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32 - 0.5) * 12;
  });
}

/** Random options on rows that take a random path, of any width near the path's own, with a gap between rows. */
export const anyWideRows = fc.record({
  path: fc.constantFrom(...PATHS),
  base: anyPolicyInput,
  type: fc.constantFrom('f32', 'bf16', 'f16'),
  fewer: fc.integer({ min: 0, max: 40 }),
  gap: fc.integer({ min: 0, max: 9 }),
  seed: fc.nat(),
  inPlace: fc.boolean(),
  /** Whether the gradient is f32 whatever the logits are. */
  wideGradient: fc.boolean(),
});
type WideRows = typeof anyWideRows extends fc.Arbitrary<infer R> ? R : never;

export function wideInput({ path, base, type, fewer, gap, seed }: WideRows): PolicyLossInput {
  const vocabulary = path.vocabulary * (type === 'f32' ? 1 : 2) - fewer;
  const stride = vocabulary + gap;
  const numbers = noise(base.target.length * stride, seed);
  const logits = type === 'f32' ? numbers : type === 'bf16' ? bf16FromNumbers(numbers) : f16FromNumbers(numbers);
  const target = base.target.map((t, row) => (t < 0 ? t : (t * 7919 + row + seed) % vocabulary));
  const precision = type === 'f16' ? 'f16' : 'bf16';
  // A KL slope of e^20 leaves f16: such a row is counted, the same on both devices.
  return { ...base, logits, precision, vocabulary, stride, target, nonfinite: 'count' };
}
