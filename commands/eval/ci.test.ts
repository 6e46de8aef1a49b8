import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { spec } from './spec.ts';

const root = packageRoot();
const load = (name: string) => parse(readFileSync(join(root, 'docs/ci', name), 'utf8'));

interface Example {
  name: string;
  /** The shell lines of the job. */
  script: string;
  variables: Record<string, string>;
}

function examples(): Example[] {
  const github = load('github-workflow.yml');
  const steps = github.jobs.evaluate.steps as { run?: string }[];
  const gitlab = load('gitlab-ci.yml');
  return [
    { name: 'github-workflow.yml', script: steps.map(({ run = '' }) => run).join('\n'), variables: github.env },
    { name: 'gitlab-ci.yml', script: gitlab.evaluate.script.join('\n'), variables: gitlab.variables },
  ];
}

/** The words of each call of dart-eval, variables filled in; those of a baseline that may be there as if it were. */
function callsOf({ script, variables }: Example): string[][] {
  return script
    .replaceAll(/ *\\\n */g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('bin/dart-eval '))
    .map((line) =>
      line
        .replaceAll(/"\$\{baseline\[@\]\}"|"\$@"/g, '--baseline main.ndjson --max-regression 0.02')
        .replaceAll(/"\$(\w+)"/g, (_, name: string) => variables[name]!)
        .split(/ +/)
        .slice(1),
    );
}

describe.each(examples())('docs/ci/$name', (example) => {
  const calls = callsOf(example);

  it('checks, fetches and evaluates, with gates and reports', () => {
    expect(calls.map(([first]) => first)).toEqual(['check', 'fetch-assets', '--tasks']);
    for (const option of ['--fail-under', '--baseline', '--gate', '--resume', '--report'])
      expect(calls[2]).toContain(option);
    expect(example.script).toContain('make build');
  });

  it.each(calls)('gives options that exist: %s', async (...argv) => {
    const io = testIo({ cwd: root });
    expect([await runCommand(spec, [...argv, '--print-config'], io), io.err()]).toEqual([0, '']);
  });

  it('names tasks and a policy that are there', async () => {
    const io = testIo({ cwd: root, env: { XDG_CONFIG_HOME: '/nonexistent', GITHUB_STEP_SUMMARY: '/nonexistent/x' } });
    expect([await runCommand(spec, [...calls[2]!, '--dry-run'], io), io.err()]).toEqual([
      0,
      'dart-eval: would run 240 rollouts of 60 tasks with onnx:fixtures/policies/base.onnx on embedded:8\n',
    ]);
  });
});
