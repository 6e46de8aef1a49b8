import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** What docs/kernels.md and docs/performance.md say of memory, held to the code. */
const native = join(import.meta.dirname, '..');
const library = join(native, 'build', 'Release', 'libdart_cpu.so');
const folder = mkdtempSync(join(tmpdir(), 'dart-figures-'));
afterAll(() => rmSync(folder, { recursive: true }));
const text = (name: string) => readFileSync(join(native, '..', 'docs', name), 'utf8');
const RECORD = 128;

describe('extra memory of the policy loss on the CPU', () => {
  const [sweep, script] = [join(folder, 'libsweep.so'), join(import.meta.dirname, 'bench_kernels.py')];
  beforeAll(() => {
    const source = join(import.meta.dirname, 'sweep.cc');
    execFileSync(process.env.CXX ?? 'c++', ['-O1', '-std=c++17', '-shared', '-fPIC', '-pthread', '-o', sweep, source]);
  }, 60_000);

  it.each([
    ['f32', 0, 512, 32_000, 0],
    ['f32', 0, 256, 151_936, 0],
    ['bf16', 1, 512, 32_000, 4 * 32_000],
    ['bf16', 1, 256, 151_936, 4 * 151_936],
  ])('%s (%i), N %i, V %i: the records and a row of %i bytes, to some pages', (name, kind, rows, vocabulary, row) => {
    const args = [script, library, sweep, '--memory', 'ours', `${rows},${vocabulary},${kind}`];
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    const bytes = Number(execFileSync('python3', args, { encoding: 'utf8', env }));
    expect(bytes).toBeGreaterThan(RECORD * rows + row - 8192);
    expect(bytes).toBeLessThan(RECORD * rows + row + 32_768);
    const share = bytes / (rows * vocabulary * (name === 'f32' ? 4 : 2));
    expect(share).toBeLessThan(0.02);
    const line = text('performance.md')
      .split('\n')
      .find((each) => each.startsWith(`| ${name}, N ${rows} × V ${vocabulary.toLocaleString('en')} | 1 |`))!;
    const documented = Number(line.split('|').at(-3)!.trim().replace('%', ''));
    expect(Math.abs(documented - 100 * share)).toBeLessThan(0.1);
  });
});

describe('docs/kernels.md', () => {
  it('says how large a record is, on the CPU and on CUDA, and up to where a row is kept', () => {
    const program = join(folder, 'plan');
    const source = join(import.meta.dirname, 'plan.testing.cc');
    const flags = ['-std=c++20', '-O1', '-U_FORTIFY_SOURCE', '-Wno-unknown-pragmas'];
    execFileSync(process.env.CXX ?? 'c++', [...flags, '-o', program, source]);
    expect(execFileSync(program, { encoding: 'utf8' })).toBe(
      'sm_80 bf16 101719 f32 50859\nsm_86 bf16 68951 f32 34475\nsm_90 ranks 2 4\nslot 104\n',
    );
    const ask = 'import sys, dart; print(dart.Library(sys.argv[1]).policy_workspace(1000))';
    const python = ['-B', '-c', ask, library];
    const workspace = execFileSync('python3', python, { encoding: 'utf8', cwd: import.meta.dirname });
    expect(Number(workspace)).toBe(1000 * RECORD);
    for (const figure of ['128 bytes a row on the CPU, 104 on CUDA', '101,719', '68,951'])
      expect(text('kernels.md')).toContain(figure);
  });
});
