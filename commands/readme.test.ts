import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../lib/cli/paths.ts';

/** What the README tells people to type must work as it stands, from a built checkout. */
const ROOT = packageRoot();

/** Lines of indented blocks that start a command of ours, continuations joined. */
function documentedCommands(): string[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8').replaceAll(/ \\\n\s+/g, ' ');
  return text
    .split('\n')
    .filter((line) => /^ {4}bin\//.test(line))
    .map((line) => line.trim());
}

const run = (command: string) =>
  execa('bash', ['-o', 'pipefail', '-c', command], { cwd: ROOT, stdin: 'ignore', reject: false });

describe('the README', () => {
  const commands = documentedCommands();
  const endless = commands.filter((command) => command.includes('--follow'));

  it('documents the pipe of the experts, a gate and the loop', () => {
    expect(commands.length).toBeGreaterThanOrEqual(4);
    expect(endless).toHaveLength(1);
  });

  it('gives a pipe whose experts score 100%', async () => {
    const { exitCode, stderr } = await run(commands.find((command) => command.includes('--policy script'))!);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^all +100\.0%/m);
  });

  it('gives a gate that the base policy does not pass', async () => {
    const gate = commands.find((command) => command.includes('--fail-under'))!;
    const { exitCode, stderr } = await run(`${gate} --repeats 1`);
    expect(stderr).toContain('is below --fail-under 50.0%');
    expect(exitCode).toBe(1);
  });

  it.each(endless.flatMap((command) => command.split(' | ')))('gives options that exist: %s', async (stage) => {
    const { exitCode, stderr } = await run(`${stage.replace(/ > .*/, '')} --print-config`);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  });
});
