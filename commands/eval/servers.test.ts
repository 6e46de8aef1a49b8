import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { Interrupted } from '../../lib/cli/stop.ts';
import { spec as rolloutSpec } from '../rollout/spec.ts';
import { spec } from './spec.ts';

const SUITE = join(packageRoot(), 'fixtures/tasks/embedded');
const BASE = join(packageRoot(), 'fixtures/policies/base.onnx');
const TASKS = ['chrome/chrome-bookmark-tea', 'libreoffice_calc/calc-write-b2-7', 'os/os-folder-garden'].map(
  (id) => `${id}.json`,
);

let dir = '';
let tasks = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-eval-servers-'));
  tasks = join(dir, 'tasks');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function evaluate(policy: string, env: Record<string, string>) {
  const io = testIo({ cwd: dir, env: { XDG_CONFIG_HOME: '/nonexistent', ...env } });
  const argv = ['--tasks', tasks, '--policy', policy, '--repeats', '3', '--max-steps', '12', '--seed', '5', '--quiet'];
  const code = await runCommand(spec, [...argv, '--request-tries', '1', '--patience', '0'], io);
  const scores = io.records().filter(({ type }) => type === 'result');
  return { code, err: io.err(), scores: scores.map(({ task_id, score, rollouts }) => [task_id, score, rollouts]) };
}

describe('dart-eval of a policy behind a server', () => {
  it('gives the scores that the policy has at home, with the key from the environment', async () => {
    for (const task of TASKS) cpSync(join(SUITE, task), join(tasks, task));
    writeFileSync(join(dir, 'token'), 'correct horse\n');
    const stop = new AbortController();
    const io = testIo({ cwd: dir, signal: stop.signal, env: { XDG_CONFIG_HOME: '/nonexistent' } });
    const serve = ['serve', '--policy', `onnx:${BASE}`, '--port', '0', '--token', join(dir, 'token'), '--quiet'];
    const serving = runCommand(rolloutSpec, serve, io);
    while (io.records().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const far = `openai:${io.records()[0]!.url}`;

    const home = await evaluate(`onnx:${BASE}`, {});
    expect([home.code, home.err]).toEqual([0, '']);
    expect(home.scores).toHaveLength(3);
    expect(await evaluate(far, { DART_API_KEY: 'correct horse' })).toEqual(home);
    const refused = await evaluate(far, {});
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/401|token|key/);

    stop.abort(new Interrupted('SIGTERM'));
    await serving;
  });
});
