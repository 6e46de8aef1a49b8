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

/** A copy of an object with one entry of a list replaced, a list one entry shorter, or another `want`. */
const put = (name: string, place: number, value: unknown) => (c: Record<string, unknown[]>) => ({
  ...c,
  [name]: c[name]!.with(place, value),
});
const cut = (name: string) => (c: Record<string, unknown[]>) => ({ ...c, [name]: c[name]!.slice(1) });
const inWant = (change: (want: never) => unknown) => (c: { want: never }) => ({ ...c, want: change(c.want) });

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

  /** Changes the file, or its case of this number. */
  type Change = [what: string, file: string, at: number | null, change: (c: never) => unknown, says: string];
  // biome-ignore format: a table
  const changes: Change[] = [
    ['{}', 'policy_loss.json', null, () => ({}), 'policy_loss.json: there are no cases'],
    ['no cases', 'preference_loss.json', null, () => ({ cases: [] }), 'preference_loss.json: there are no cases'],
    ['null', 'adamw.json', null, () => null, 'adamw.json: the case is null'],
    ['{}', 'adamw.json', null, () => ({}), 'adamw.json: lr is missing'],
    ['no steps', 'adamw.json', null, (c: object) => ({ ...c, steps: [] }), 'adamw.json: steps is empty'],
    ['no name', 'policy_loss.json', 1, (c: object) => ({ ...c, name: undefined }), 'case 2: name is missing'],
    ['another dtype', 'policy_loss.json', 0, (c: object) => ({ ...c, dtype: 'f64' }), '1 (plain): dtype is "f64"'],
    ['another loss', 'policy_loss.json', 0, (c: object) => ({ ...c, loss_kind: 'ppo' }), '1 (plain): loss_kind is "ppo"'],
    ['no dual clip', 'policy_loss.json', 0, (c: object) => ({ ...c, dual_clip: undefined }), 'dual_clip is missing'],
    ['rtol 1', 'policy_loss.json', 0, (c: object) => ({ ...c, rtol: 1 }), '1 (plain): rtol is 1, too wide for logits up to'],
    ['rtol null', 'policy_loss.json', 0, (c: object) => ({ ...c, rtol: null }), '1 (plain): rtol is null'],
    ['rtol as text', 'policy_loss.json', 0, (c: object) => ({ ...c, rtol: '1e-5' }), '1 (plain): rtol is "1e-5"'],
    ['null for an old log-probability', 'policy_loss.json', 0, put('old_logp', 2, null), '(plain): old_logp[2] is null'],
    ['a target beyond V', 'policy_loss.json', 0, put('target', 0, 11), '(plain): target[0] is 11'],
    ['a sequence in two parts', 'policy_loss.json', 0, put('sequence', 6, 0), 'the tokens of sequence 0 are not together'],
    ['too few logits', 'policy_loss.json', 0, cut('logits'), '(plain): logits has 76 entries, not 77'],
    ['no want', 'policy_loss.json', 0, (c: object) => ({ ...c, want: undefined }), '1 (plain): want is missing'],
    ['null on a row that counts', 'policy_loss.json', 0, inWant(put('entropy', 3, null)), '(plain): want.entropy[3] is null'],
    ['null in dlogits', 'policy_loss.json', 0, inWant(put('dlogits', 3, null)), '(plain): want.dlogits[3] is null'],
    ['null for the loss', 'policy_loss.json', 0, inWant((w: object) => ({ ...w, loss: null })), 'want.loss is null'],
    ['no token_loss', 'policy_loss.json', 0, inWant((w: object) => ({ ...w, token_loss: undefined })), 'want.token_loss is missing'],
    ['too few selected', 'step_selection.json', 2, inWant(cut('selected')), 'step_selection.json, case 3: want.selected has 23'],
    ['no threshold', 'step_selection.json', 2, inWant((w: object) => ({ ...w, threshold: {} })), 'want.threshold.0 is missing'],
    ['null for a step', 'step_selection.json', 2, inWant(put('step_entropy', 0, null)), 'want.step_entropy[0] is null'],
    ['offsets that end early', 'step_selection.json', 0, put('step_offsets', 24, 93), 'step_offsets do not go up from 0 to 94'],
    ['no slopes', 'preference_loss.json', 0, inWant(() => ({ loss: 0 })), 'preference_loss.json, case 1: want.d_policy_chosen is missing'],
    ['another objective', 'preference_loss.json', 1, (c: object) => ({ ...c, objective: 'ipo' }), 'case 2: objective is "ipo"'],
  ];

  it.each(changes)('refuses %s in %s (case at %s) and says where', (_, file, at, change, says) => {
    const { status, stderr, metrics } = golden((read, write) => {
      const json = read(file) as { cases: unknown[] };
      if (at !== null) json.cases[at] = change(json.cases[at] as never);
      write(file, at === null ? change(json as never) : json);
    });
    expect(stderr).toContain(says);
    expect(stderr).toContain(`golden: ${file}`);
    expect([status, metrics]).toEqual([2, []]);
  });

  it('says in which case a kernel refuses the numbers', () => {
    const { status, stderr } = golden((read, write) => {
      const file = read('policy_loss.json') as { cases: { logits: unknown[] }[] };
      file.cases[0]!.logits[0] = 1e39; // more than f32 holds
      write('policy_loss.json', file);
    });
    expect(stderr).toMatch(/golden: policy_loss.json, case 1 \(plain\): Expected finite logits/);
    expect(status).toBe(2);
  });

  it('refuses a folder without any of the files, and a second folder', () => {
    const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
    const empty = mkdtempSync(join(copy, 'empty '));
    expect(run(empty)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('no golden numbers') });
    expect(run(copy, empty)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^golden: one folder at a time/),
    });
  });

  it('reads a folder whose name has spaces and quotes', () => {
    const spaced = mkdtempSync(join(copy, "it's a folder "));
    copyFileSync(join(folder!, 'adamw.json'), join(spaced, 'adamw.json'));
    const recipe = readFileSync(join(import.meta.dirname, '..', 'Makefile'), 'utf8').match(
      /^golden:.*\n\t@(.*)$/m,
    )![1]!;
    const { status, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', recipe.replaceAll('$$', '$')], {
      encoding: 'utf8',
      cwd: join(import.meta.dirname, '..'),
      env: { ...process.env, GOLDEN: spaced },
    });
    expect(stderr).toContain(`golden: there is no policy_loss.json in ${spaced}\n`);
    expect(stderr).toMatch(/OK +scalar +adamw: 5 clipped steps /);
    expect(status).toBe(0);
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
