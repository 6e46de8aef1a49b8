import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { openStore } from '../../lib/store/index.ts';
import { compilePrograms, type Programs } from '../programs.testing.ts';

let folder: string;
let programs: Programs;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dart-sharing-'));
  programs = await compilePrograms();
});
afterAll(() => {
  programs.remove();
  rmSync(folder, { recursive: true, force: true });
});

it('two processes with one store and run id share the work: each rollout once, both take part, no lease is left', async () => {
  const store = `sqlite:${join(folder, 'dart.db')}`;
  const args = [
    ...['--tasks', join(packageRoot(), 'fixtures/tasks/embedded'), '--domain', 'os', '--sample', '3', '--seed', '1'],
    // Slow enough that neither can be done before the other has begun.
    ...['--env', 'embedded:2,reset=300', '--policy', 'fixed:finished', '-n', '8', '--window', '1'],
    ...['--store', store, '--run-id', 'shared', '--blobs', join(folder, 'blobs'), '--quiet'],
  ];
  const both = await Promise.all([1, 2].map(() => execa('node', [programs.path('rollout'), ...args])));
  const ids = both.map(({ stdout }) =>
    stdout
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; trajectory_id: string })
      .filter((record) => record.type === 'trajectory')
      .map((record) => record.trajectory_id),
  );
  expect(ids.flat()).toHaveLength(24);
  expect(new Set(ids.flat()).size).toBe(24);
  for (const own of ids) expect(own.length).toBeGreaterThan(0);
  const opened = await openStore(store);
  expect(await opened.countRollouts('shared')).toBe(24);
  // A new run of it finds nothing left to do.
  expect((await execa('node', [programs.path('rollout'), ...args])).stdout.split('\n')).toHaveLength(1);
  await opened.close();
}, 120_000);
