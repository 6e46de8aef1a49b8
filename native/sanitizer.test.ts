import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { orSkip } from '../lib/stream/shared.testing.ts';

const kernels = join(import.meta.dirname, 'kernels');
const folder = mkdtempSync(join(tmpdir(), 'dart-sanitizer-'));
const compiler = process.env.CXX ?? 'g++';
const checks = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
afterAll(() => rmSync(folder, { recursive: true }));

/** The compiler's flags, or null where it has no sanitizers or their programs do not run. */
function sanitizers(): string[] | null {
  const program = join(folder, 'empty');
  const build = spawnSync(compiler, [...checks, '-x', 'c++', '-o', program, '-'], { input: 'int main() {}' });
  return build.status === 0 && spawnSync(program).status === 0 ? checks : null;
}

const flags = orSkip('sanitizers', sanitizers(), `${compiler} cannot build with -fsanitize=address,undefined`);

describe.skipIf(flags === null)('CPU kernels under AddressSanitizer and UBSan', () => {
  it('1,000 random shapes: no report, the same bytes on 1 to 3 threads, scalar and vector agree', {
    timeout: 600_000,
  }, () => {
    const program = join(folder, 'sanitize_check');
    const sources = readdirSync(join(kernels, 'cpu')).filter((name) => name.endsWith('.cc'));
    const files = ['sanitize_check.cc', ...sources.map((name) => join('cpu', name))];
    const options = ['-std=c++20', '-O1', '-g', '-ffp-contract=off', '-fno-math-errno', '-DDART_SHARE_EVERYTHING'];
    const build = spawnSync(compiler, [...options, ...flags!, '-o', program, ...files], {
      cwd: kernels,
      encoding: 'utf8',
    });
    expect(build.stderr).toBe('');
    const run = spawnSync(program, { encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.stdout).toMatch(/^1000 shapes, [2-9] sets of instructions: no difference\n$/);
    expect(run.status).toBe(0);
  });
});
