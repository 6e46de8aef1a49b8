import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../lib/stream/shared.testing.ts';
import { buildEmulatedCuda } from './check/library.testing.ts';
import { goldenCases } from './golden/cases.ts';
import { compareArray, compareRows } from './golden/compare.ts';
import { f16FromNumbers, numbersFromF16 } from './golden/f16.ts';
import { cpuImplementations, cudaImplementations, runCases } from './golden/implementations.ts';

// Before the addon is first asked for a device; `make golden` holds a GPU to the same numbers.
const emulated = join(import.meta.dirname, 'build', 'libdart_cuda_emulated.so');
process.env.DART_CUDA_LIBRARY = emulated;

const folder = shared === null ? null : join(shared, 'golden');
const cases = folder && existsSync(folder) ? goldenCases(folder) : [];

describe.skipIf(cases.length === 0)('golden numbers', () => {
  beforeAll(() => buildEmulatedCuda(emulated), 240_000);

  it('are held against the scalar and the vector code of the CPU, and against emulated CUDA', () => {
    const names = [...cpuImplementations(), ...cudaImplementations()].map(({ name }) => name);
    expect(names[0]).toBe('scalar');
    if (process.arch === 'x64')
      expect(names.slice(1, 3)).toEqual([
        expect.stringMatching(/^avx(2|512), 1 thread$/),
        expect.stringMatching(/^avx(2|512), 2 threads$/),
      ]);
    expect(names.at(-1)).toBe('CUDA, emulated');
  });

  it.each(cases)('$file: $name', ({ file, name, run }) => {
    const rows = runCases([{ file, name, run }], [...cpuImplementations(), ...cudaImplementations()]);
    expect(rows.length).toBeGreaterThanOrEqual(2);
    for (const { implementation, output, share } of rows)
      expect(share, `${implementation}: ${output}`).toBeLessThanOrEqual(1);
  });
});

describe.skipIf(cases.length === 0)('make golden', () => {
  const script = join(import.meta.dirname, '..', 'dist', 'native', 'golden.js');
  const copy = mkdtempSync(join(tmpdir(), 'dart-golden-'));
  afterAll(() => rmSync(copy, { recursive: true }));

  /** Runs the program on a copy of the golden folder after `change`. */
  function golden(change: (read: (file: string) => never, write: (file: string, value: unknown) => void) => void) {
    for (const file of readdirSync(folder!).filter((name) => name.endsWith('.json'))) {
      rmSync(join(copy, file), { force: true });
      copyFileSync(join(folder!, file), join(copy, file));
    }
    const write = (file: string, value: unknown) => {
      rmSync(join(copy, file));
      writeFileSync(join(copy, file), JSON.stringify(value));
    };
    change((file) => JSON.parse(readFileSync(join(copy, file), 'utf8')) as never, write);
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, copy], { encoding: 'utf8' });
    return {
      status,
      stderr,
      metrics: stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    };
  }

  it('is OK with the numbers as they are, one metric record for each case and implementation', () => {
    const { status, stderr, metrics } = golden(() => undefined);
    expect(stderr).toMatch(/\n\d+ OK, 0 NOT OK\n$/);
    expect(status).toBe(0);
    const names = new Set(metrics.map(({ name }) => name.split('/')[1]));
    expect(names).toContain('scalar');
    expect(names).toContain('CUDA, emulated');
    expect(metrics.length).toBe(names.size * cases.length);
    for (const metric of metrics) {
      expect(metric).toMatchObject({ type: 'metric', v: 1, unit: 'of tolerance' });
      expect(metric.value).toBeLessThanOrEqual(1);
    }
  });

  it('exits 1 on one wrong number and names the case, the output and each implementation', () => {
    const { status, stderr } = golden((read, write) => {
      const file = read('policy_loss.json') as { cases: { name: string; want: { entropy: number[] } }[] };
      const entropy = file.cases[0]!.want.entropy;
      entropy[entropy.findIndex((x) => x !== null)]! += 0.01;
      write('policy_loss.json', file);
    });
    expect(status).toBe(1);
    const missed = stderr.split('\n').filter((line) => line.startsWith('NOT OK'));
    expect(missed.length).toBeGreaterThanOrEqual(2);
    for (const line of missed) expect(line).toMatch(/policy_loss: plain +entropy /);
    expect(missed.some((line) => line.includes('CUDA, emulated'))).toBe(true);
  });

  it('exits 1 when a step is chosen wrongly', () => {
    const { status, stderr } = golden((read, write) => {
      const file = read('step_selection.json') as { cases: { want: { selected: number[] } }[] };
      file.cases[2]!.want.selected[0] = 1 - file.cases[2]!.want.selected[0]!;
      write('step_selection.json', file);
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/NOT OK +scalar +step_selection: 2: keep 0.5 +selected /);
  });

  it('takes f16 logits, and says which files are missing', () => {
    const { status, stderr, metrics } = golden((read, write) => {
      const file = read('policy_loss.json') as { cases: { dtype: string }[] };
      // f16 holds each of these numbers as well as bf16 does, so that the wanted ones stay right.
      for (const c of file.cases) if (c.dtype === 'bf16') c.dtype = 'f16';
      write('policy_loss.json', file);
      rmSync(join(copy, 'adamw.json'));
    });
    expect(stderr).toContain(`golden: there is no adamw.json in ${copy}\n`);
    expect(metrics.some(({ name }) => name.includes('/adamw/'))).toBe(false);
    expect(metrics.filter(({ name }) => name.includes('/bf16 logits')).length).toBeGreaterThanOrEqual(4);
    expect(status).toBe(0);
  });

  it('refuses a type of numbers that it does not know', () => {
    const unknown = golden((read, write) => {
      const file = read('policy_loss.json') as { cases: { dtype: string }[] };
      file.cases[0]!.dtype = 'f64';
      write('policy_loss.json', file);
    });
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain('dtype is "f64"');
  });
});

describe('comparison', () => {
  it('counts a difference in tolerances, scaled by the greatest expected number', () => {
    expect(compareArray([10.5, 1], [10, 1], 0.1).share).toBeCloseTo(0.5, 12);
    expect(compareArray([0.2], [0], 0.1).share).toBeCloseTo(2, 12);
    expect(compareArray([Number.NaN, 5], [1, null], 0.1).share).toBe(Infinity);
    expect(compareArray([1], [1, 2], 0.1).share).toBe(Infinity);
    expect(compareArray([-Infinity], ['-inf'], 0.1).share).toBe(0);
  });

  it('wants masked rows to be exactly 0', () => {
    expect(compareRows([0, 0], [0, 0], [1, 0], 0.1).share).toBe(0);
    expect(compareRows([0, 1e-30], [0, 0], [1, 0], 0.1).share).toBeGreaterThan(1);
    expect(compareRows([0, 1e-30], [0, 0], [1, 1], 0.1).share).toBeLessThan(1);
  });
});

describe('f16', () => {
  it('is IEEE 754 half precision, rounded to nearest even', () => {
    const pairs: [number, number][] = [
      [0, 0],
      [-0, 0x8000],
      [1, 0x3c00],
      [-2, 0xc000],
      [65_504, 0x7bff],
      [65_520, 0x7c00],
      [-Infinity, 0xfc00],
      [2 ** -14, 0x0400],
      [2 ** -24, 0x0001],
      [2 ** -25, 0x0000],
      [1 + 2 ** -11, 0x3c00],
      [1 + 3 * 2 ** -11, 0x3c02],
      [2 - 2 ** -12, 0x4000],
      [NaN, 0x7e00],
    ];
    expect([...f16FromNumbers(pairs.map(([value]) => value))]).toEqual(pairs.map(([, bits]) => bits));
    const all = Uint16Array.from({ length: 1 << 16 }, (_, i) => i).filter((bits) => (bits & 0x7fff) <= 0x7c00);
    expect(f16FromNumbers(numbersFromF16(all))).toEqual(all);
  });
});
