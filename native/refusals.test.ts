import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useEmulatedCuda } from './cuda.emulated.testing.ts';
import { libraryPaths } from './index.ts';

const kernels = join(import.meta.dirname, 'kernels');
const folder = mkdtempSync(join(tmpdir(), 'dart-refusals-'));
const program = join(folder, 'refuse_check');

beforeAll(() => {
  useEmulatedCuda();
  const flags = ['-std=c++20', '-Wall', '-Wextra', '-O1', '-o', program, 'refuse_check.cc', '-ldl'];
  expect(spawnSync(process.env.CXX ?? 'g++', flags, { cwd: kernels, encoding: 'utf8' }).stderr).toBe('');
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

it.each(['cpu', 'cuda'] as const)('%s refuses what the C interface does not allow, in words that name it', (which) => {
  const run = spawnSync(program, [libraryPaths()[which]], { encoding: 'utf8' });
  // Workspaces: 4; 8 temperatures, twice; 10 numbers of AdamW.
  expect(run).toMatchObject({ stderr: '', stdout: 'refused 30 calls\n', status: 0 });
});
