import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { orSkip } from '../lib/stream/shared.testing.ts';

const kernels = join(import.meta.dirname, 'kernels');
const folder = mkdtempSync(join(tmpdir(), 'dart-memory-'));
const version = spawnSync('valgrind', ['--version'], { encoding: 'utf8' });
const valgrind = orSkip('valgrind', version.status === 0 ? version.stdout : null, 'it is not installed');
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(valgrind === null)('CPU kernels under valgrind', () => {
  it('touch nothing beside their arrays, use nothing unwritten and leak nothing', { timeout: 120_000 }, () => {
    const program = join(folder, 'memory_check');
    const sources = readdirSync(join(kernels, 'cpu')).filter((name) => name.endsWith('.cc'));
    const files = ['memory_check.cc', ...sources.map((name) => join('cpu', name))];
    const flags = [
      '-std=c++20',
      '-O2',
      '-g',
      '-ffp-contract=off',
      '-fno-math-errno',
      '-fno-trapping-math',
      '-o',
      program,
    ];
    const build = spawnSync(process.env.CXX ?? 'g++', [...flags, ...files], { cwd: kernels, encoding: 'utf8' });
    expect(build.stderr).toBe('');
    const run = spawnSync('valgrind', ['--leak-check=full', '--error-exitcode=9', '-q', program], { encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.stdout).toBe('every kernel ran\n');
    expect(run.status).toBe(0);
  });
});
