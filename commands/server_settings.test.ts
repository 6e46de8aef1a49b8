import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../lib/cli/io.testing.ts';
import { packageRoot } from '../lib/cli/paths.ts';
import { runCommand } from '../lib/cli/run.ts';
import { spec } from './rollout/spec.ts';

const TASKS = ['--tasks', join(packageRoot(), 'fixtures/tasks/embedded'), '--task', 'chrome-bookmark-tea', '--dry-run'];

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-server-settings-'));
  writeFileSync(join(dir, 'file'), '');
});
afterAll(() => rmSync(dir, { recursive: true }));

async function refusal(...args: string[]) {
  const io = testIo({ cwd: dir });
  const code = await runCommand(spec, [...TASKS, ...args], io);
  return [code, io.err()];
}

describe('options that would be ignored', () => {
  it.each([
    ['--spawn', 'foo'],
    ['--versions', '/nope'],
    ['--gpus', '0'],
    ['--coordinates', 'relative'],
    ['--model', 'x'],
  ])('%s with a policy that has no servers is refused', async (option, value) => {
    const message = `dart-rollout: ${option}: it says something of servers, and the policy random has none.`;
    expect(await refusal('--policy', 'random', option, value)).toEqual([2, expect.stringContaining(message)]);
  });

  it.each([
    [['--gpus', '0'], '--gpus: GPUs are chosen for servers that this command starts'],
    [['--gpus', '0,a', '--spawn', 'x {port}'], '--gpus: "a" is no GPU'],
    [['--gpus', '0,,1', '--spawn', 'x {port}'], '--gpus: "" is no GPU'],
    [['--versions', 'nope'], '--versions nope: there is no such folder'],
    [['--versions', 'file'], '--versions file: it is no folder'],
    [['--assets', 'nope'], '--assets nope: there is no such folder'],
  ])('%j is refused', async (args, message) => {
    expect(await refusal('--policy', 'openai', ...args)).toEqual([2, expect.stringContaining(message)]);
  });

  it('and a policy that is not there is told in words', async () => {
    expect(await refusal('--policy', 'workload:nope.json')).toEqual([
      2,
      expect.stringMatching(/^dart-rollout: .*nope\.json: cannot read the workload: .*no such file/),
    ]);
    expect(await refusal('--policy', 'clever')).toEqual([2, expect.stringContaining('workload:FILE')]);
  });
});
