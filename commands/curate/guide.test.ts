import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { AnyRecord, Trajectory } from '../../lib/stream/records.ts';
import { writeOsworldResult } from './osworld_results.testing.ts';

/** What docs/from-osworld-results.md tells people to type must work as it stands, from a built checkout. */
const ROOT = packageRoot();

/** The commands of indented blocks, those that a pipe or a backslash continues joined. */
function documentedCommands(): string[] {
  const text = readFileSync(join(ROOT, 'docs', 'from-osworld-results.md'), 'utf8');
  const lines = text.replaceAll(/\s*\\\n\s+/g, ' ').split('\n');
  return lines.filter((line) => /^ {4}bin\//.test(line)).map((line) => line.trim());
}

let cwd: string;
const run = (command: string) =>
  execa('bash', ['-o', 'pipefail', '-c', command], { cwd, stdin: 'ignore', reject: false });
const records = (path: string) =>
  readFileSync(join(cwd, path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AnyRecord);

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-guide-'));
  for (const name of ['bin', 'fixtures']) symlinkSync(join(ROOT, name), join(cwd, name));
  for (const [agent, policy] of [
    ['some-agent', 'script'],
    ['other-agent', 'random --max-steps 4'],
  ] as const) {
    const rollouts = `bin/dart-rollout --tasks fixtures/tasks/embedded --domain os --domain multi_apps --policy ${policy}`;
    const { exitCode } = await run(`${rollouts} --env embedded:2 -n 1 --seed 7 --blobs made -o ${agent}.ndjson`);
    expect(exitCode).toBe(0);
    const made = records(`${agent}.ndjson`).filter(({ type }) => type === 'trajectory') as unknown as Trajectory[];
    for (const one of made)
      writeOsworldResult(join(cwd, 'runs', 'results'), agent, one, new BlobStore(join(cwd, 'made')));
  }
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('the guide from an OSWorld results folder', () => {
  it('has commands that end with 0, from the folder to a trained policy', async () => {
    const commands = documentedCommands();
    expect(commands.map((command) => /^bin\/(\S+(?: [a-z]+(?:-[a-z]+)?(?= ))?)/.exec(command)![1])).toEqual([
      'dart-curate import',
      'dart-curate pool',
      'dart-curate pool',
      'dart-curate demos',
      'dart-train',
      'dart-rollout',
      'dart-curate pairs',
      'dart-curate pairs',
      'dart-curate select-tasks',
    ]);
    for (const command of commands) {
      const { exitCode, stderr } = await run(command);
      expect([command, exitCode, exitCode === 0 ? '' : stderr]).toEqual([command, 0, '']);
      if (command.includes('pool list')) expect(stderr).toMatch(/multi-folder-roses +multi_apps +1 +1/);
    }
  });

  it('imports what the runner left: real screens, the first of each task missing', () => {
    const imported = records('runs/own/imported.ndjson');
    const trajectories = imported.filter((record) => record.type === 'trajectory') as unknown as Trajectory[];
    expect(new Set(trajectories.map(({ reward, policy }) => `${policy.name} ${reward}`))).toEqual(
      new Set(['some-agent 1', 'other-agent 0']),
    );
    const trash = trajectories.find(({ task_id, reward }) => task_id === 'os-trash-ticket' && reward === 1)!;
    expect(trash.instruction).not.toBe('');
    expect(trash.steps.map((step) => step.index)[0]).toBe(1);
    expect(trash.steps[0]!.response.text).toMatch(/^Action: \w+\(/);
    expect([trash.missing_steps, trash.steps[0]!.prompt.history]).toEqual([[0], 1]);
    expect(trash.steps[0]!.prompt.unseen_replies).toEqual([expect.stringMatching(/^Action: \w+\(/)]);
    expect(trash.steps[0]!.observation.screenshot).toMatchObject({ width: 160, height: 120 });
    expect(imported.filter(({ event }) => event === 'screenshot_missing').length).toBeGreaterThanOrEqual(
      trajectories.length,
    );
  });

  it('writes only where git ignores it', () => {
    expect(readdirSync(cwd).sort()).toEqual([
      'bin',
      'fixtures',
      'made',
      'other-agent.ndjson',
      'runs',
      'some-agent.ndjson',
    ]);
    expect(readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n')).toContain('runs/');
  });

  it('makes no pair of successes only, and says so, but labels', async () => {
    const successes = records('runs/own/imported.ndjson').filter((record) => record.reward === 1);
    writeFileSync(join(cwd, 'runs/own/won.ndjson'), successes.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const pairs = await run('bin/dart-curate pairs --for dpo --pairs 4 --seed 1 runs/own/won.ndjson');
    expect([pairs.exitCode, pairs.stdout]).toEqual([1, expect.stringContaining('"reason":"no_failure"')]);
    expect((await run('bin/dart-curate pairs --for kto runs/own/won.ndjson')).exitCode).toBe(0);
  });

  it('ends in a training step on the imported success, spelt by the trainer', () => {
    const train = records('runs/own/train.ndjson');
    const value = (name: string) => train.find((record) => record.name === name)?.value;
    expect(value('train/injected_steps')).toBeGreaterThan(0);
    expect(value('train/tokenised_steps')).toBe(value('train/injected_steps'));
    expect(value('train/unspelt_steps')).toBe(0);
    expect(value('train/groups')).toBe(1);
    expect(train.filter((record) => record.type === 'checkpoint').map((record) => record.version)).toEqual([0, 1]);
    const sft = records('runs/own/sft.ndjson').at(-1)!;
    const demos = records('runs/own/demos.ndjson').filter((record) => record.type === 'demonstration');
    expect(sft).toMatchObject({ command: 'dart-train', demonstrated_steps: demos.length, unspelt_steps: 0 });
  });
});
