import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildEmulatedCuda, buildWithBlocksOfGpu } from './library.testing.ts';

/** The program that judges the kernels from outside, on small shapes: native/check/check_kernels.cc. */
const folder = mkdtempSync(join(tmpdir(), 'dart-check-'));
const program = join(folder, 'check_kernels');
const cpu = join(import.meta.dirname, '..', 'build', 'Release', 'libdart_cpu.so');

beforeAll(() => {
  execFileSync('sh', [join(import.meta.dirname, 'build.sh'), folder]);
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true }));

function check(library: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(program, [library, '--quick', ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stderr, lines: stdout.trim().split('\n') };
}

/** Which instructions this CPU has, by the kernel's own word. */
function vectorInstructions(): string[] {
  const info = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  return [
    /\bavx2\b/.test(info) && 'avx2',
    /\bavx512f\b/.test(info) && 'avx512',
    process.arch === 'arm64' && 'neon',
  ].filter((name) => typeof name === 'string');
}

describe('the CPU kernels against float64', () => {
  it.each(
    ['scalar', 'auto', ...vectorInstructions()].flatMap((name) => [1, 2].map((threads) => [name, threads] as const)),
  )('%s, threads %i', (name, threads) => {
    const { status, lines, stderr } = check(cpu, ['--instructions', name, '--threads', String(threads), '--misses']);
    expect(stderr).toBe('');
    expect(lines[0]).toContain(`threads ${threads}`);
    expect(lines.slice(3)).toEqual([expect.stringMatching(/^[2-9]\d\d OK, 0 NOT OK$/)]);
    expect(status).toBe(0);
  });

  it('are refused by instructions that the machine does not have', () => {
    const { status, stderr } = check(cpu, ['--instructions', 'sse9']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^check_kernels: dart_set_instructions returned 1: .*sse9/);
  });
});

describe('the CUDA kernels, emulated, against float64', () => {
  it('all cases', { timeout: 600_000 }, () => {
    const library = join(import.meta.dirname, '..', 'build', 'libdart_cuda_emulated.so');
    buildEmulatedCuda(library);
    const { status, lines, stderr } = check(library, ['--misses']);
    expect(stderr).toBe('');
    expect(lines[0]).toMatch(/^emulated GPU/);
    expect(lines.slice(3)).toEqual([expect.stringMatching(/^[2-9]\d\d OK, 0 NOT OK$/)]);
    expect(status).toBe(0);
  });
});

describe('the emulated CUDA kernels with the blocks of a GPU', () => {
  it('all cases, of which some keep a part of the row in shared memory', { timeout: 600_000 }, () => {
    const library = join(folder, 'libdart_cuda_blocks.so');
    buildWithBlocksOfGpu(library);
    const { status, lines, stderr } = check(library, []);
    expect(stderr).toBe('');
    // 384 threads keep six vectors of four f32 each: rows longer than 9,216 go on in shared memory.
    expect(lines.filter((line) => line.includes('20011')).length).toBeGreaterThanOrEqual(3);
    expect(lines.at(-1)).toMatch(/^[2-9]\d\d OK, 0 NOT OK$/);
    expect(status).toBe(0);
  });
});

describe('kernels that are wrong', () => {
  const tampered = join(folder, 'libtampered.so');
  beforeAll(() => {
    const source = join(import.meta.dirname, 'tampered.testing.cc');
    const linked = ['-Wl,--no-as-needed', `-Wl,-rpath,${dirname(cpu)}`, cpu, '-ldl'];
    execFileSync(process.env.CXX ?? 'c++', ['-std=c++17', '-shared', '-fPIC', '-o', tampered, source, ...linked]);
  }, 60_000);

  it.each([
    ['one entry', 'policy_loss', 'dlogits'],
    ['gap', 'policy_loss', 'memory beside the outputs'],
    ['ignored row', 'policy_loss', 'dlogits of a row without loss'],
    ['count', 'policy_loss', 'statistics.clipped'],
    ['dual clip', 'policy_loss', 'dlogits'],
    ['kl gradient', 'policy_loss', 'token_loss'],
    ['entropy', 'logp_entropy', 'entropy'],
    ['ties', 'select_steps', 'selected'],
    ['weight decay', 'adamw', 'parameter'],
    ['clipping', 'adamw', 'second moment'],
  ])('%s: %s is not OK', (how, kernel, output) => {
    const { status, lines } = check(tampered, ['--misses', '--seed', '1'], { DART_TAMPER: how });
    expect(status).toBe(1);
    const missed = lines.filter((line) => line.startsWith('NOT OK'));
    expect(missed.length).toBeGreaterThan(0);
    for (const line of missed) expect(line).toMatch(new RegExp(`^NOT OK\\s+${kernel}\\s`));
    expect(missed.some((line) => line.endsWith(output))).toBe(true);
  });

  it('are what these tests are about: untouched they pass', () => {
    expect(check(tampered, ['--misses', '--seed', '1']).status).toBe(0);
  });
});

describe('the program', () => {
  it('repeats a run by its seed', () => {
    expect(check(cpu, ['--seed', '5'])).toEqual(check(cpu, ['--seed', '5']));
    expect(check(cpu, ['--seed', '5']).lines).not.toEqual(check(cpu, ['--seed', '6']).lines);
  });

  it('says which library it cannot open, and what it takes', () => {
    expect(check(join(folder, 'none.so'), [])).toMatchObject({ status: 2, lines: [''] });
    expect(check(join(folder, 'none.so'), []).stderr).toContain('none.so: cannot open shared object file');
    expect(check(cpu, ['--sead', '1']).stderr).toMatch(/^check_kernels: unknown argument --sead\nusage: /);
    expect(check(cpu, ['--seed', '1x']).stderr).toContain("--seed takes a whole number, got '1x'");
  });

  it('times the kernels beside a copy and writes metric records', () => {
    const records = join(folder, 'time.ndjson');
    const { status, lines } = check(cpu, ['--time', '--records', records]);
    expect(status).toBe(0);
    expect(lines[1]).toMatch(/^kernel +shape +ms +GB\/s +share of copy$/);
    const metrics = readFileSync(records, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(metrics.length).toBe(2 * (lines.length - 2));
    expect(metrics[1]).toEqual({
      type: 'metric',
      v: 1,
      name: 'copy/N 8 V 1024 bf16/bandwidth',
      value: expect.any(Number),
      unit: 'GB/s',
      against: 'copy',
      ratio: 1,
    });
    for (const metric of metrics) expect(metric.value).toBeGreaterThan(0);
  });
});
