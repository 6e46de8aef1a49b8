import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-telemetry-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

it('leaves nothing in the folder for temporary files nor at home where an embedded policy was opened', async () => {
  const { ORT_DISABLE_TELEMETRY: _, XDG_CACHE_HOME: __, ...rest } = process.env;
  const args = ['--tasks', join(packageRoot(), 'fixtures/tasks/embedded'), '--dry-run'];
  const policy = ['--policy', `onnx:${join(packageRoot(), 'fixtures/policies/base.onnx')}`];
  const program = join(packageRoot(), 'bin/dart-rollout');
  const { stderr } = await execa(program, [...args, ...policy], {
    env: { ...rest, TMPDIR: dir, HOME: dir },
    extendEnv: false,
  });
  expect(stderr).toContain('would give');
  expect(readdirSync(dir)).toEqual([]);
});
