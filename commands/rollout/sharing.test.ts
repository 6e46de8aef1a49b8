import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { answers, type Behaviour, FakeServer } from '../../lib/policy/openai/fake_server.testing.ts';
import { vllmCompletion } from '../../lib/policy/openai/shapes.testing.ts';
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

/** A server that answers nobody until three ask at once, which with two desktops a process no process can do alone. */
function whenAllAsk(): Behaviour {
  let waiting: (() => void)[] | null = [];
  const finish = answers(vllmCompletion({ choice: { message: { role: 'assistant', content: 'Action: finished()' } } }));
  return (response, asked) => {
    waiting?.push(() => finish(response, asked));
    if (waiting === null) finish(response, asked);
    else if (waiting.length === 3) {
      for (const answer of waiting) answer();
      waiting = null;
    }
  };
}

it('two processes with one store and run id share the work: each rollout once, both take part, no lease is left', async () => {
  const server = await FakeServer.start({ '/v1/chat/completions': whenAllAsk() });
  const store = `sqlite:${join(folder, 'dart.db')}`;
  const args = [
    ...['--tasks', join(packageRoot(), 'fixtures/tasks/embedded'), '--domain', 'os', '--sample', '3', '--seed', '1'],
    ...['--env', 'embedded:2', '--policy', `openai:${server.url}/v1`, '--coordinates', 'absolute'],
    ...['-n', '8', '--window', '1', '--request-timeout', '300'],
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
  await server.close();
});
