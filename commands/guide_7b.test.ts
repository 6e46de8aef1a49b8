import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testIo } from '../lib/cli/io.testing.ts';
import { packageRoot } from '../lib/cli/paths.ts';
import { runCommand } from '../lib/cli/run.ts';
import { parseDesktops } from '../lib/environment/request.ts';
import { spec as curate } from './curate/spec.ts';
import { spec as env } from './env/spec.ts';
import { spec as evaluate } from './eval/spec.ts';
import { spec as rollout } from './rollout/spec.ts';
import { spec as train } from './train/spec.ts';

/** What docs/training-7b.md tells people to type are commands and options that there are; nothing of it is run. */
const page = readFileSync(join(packageRoot(), 'docs', 'training-7b.md'), 'utf8');
const SPECS = new Map([curate, env, evaluate, rollout, train].map((spec) => [spec.name, spec]));

/** Lines of the indented blocks, continuations joined, and commands within the text. */
function linesOf(text: string): string[] {
  const joined = text.replaceAll(/\s*\\\n\s+/g, ' ').replaceAll(/\n\s+(?=\| )/g, ' ');
  const blocks = joined.split('\n').filter((line) => line.startsWith('    '));
  const inline = [...text.matchAll(/`((?:\w+=\S+ )*dart-[a-z]+ [^`]+)`/g)].map(([, command]) => command!);
  return [...blocks, ...inline.filter((command) => !command.includes('…'))];
}

/** The words of a shell command up to a redirection, quotes taken off. */
function wordsOf(command: string): string[] {
  const words = command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const end = words.findIndex((word) => word.startsWith('>') || word === '#');
  return (end === -1 ? words : words.slice(0, end)).map((word) => word.replaceAll(/['"]/g, ''));
}

/** Each `dart-…` of the page with its arguments; what stands before it (variables, `ExecStartPre=-`) is left out. */
const commands = linesOf(page)
  .flatMap((line) => line.trim().split(/ \| | && |; /))
  .map((stage) => /(?:^|[ /])(dart-(?:env|rollout|curate|train|eval)(?: .*)?)$/.exec(stage.replace(/\s+#.*$/, ''))?.[1])
  .filter((command) => command !== undefined)
  .map(wordsOf);

/** The variables that the loop's script sets. */
const variables = Object.fromEntries(
  [...page.matchAll(/\b(DART_(?:STORE|BLOBS|RUN_ID))=(\S+)/g)].map(([, name, value]) => [name!, value!]),
);

describe('docs/training-7b.md', () => {
  it('has every step from tasks to a score', () => {
    const named = new Set(commands.map(([name, sub]) => (sub?.startsWith('-') ? name : `${name} ${sub}`)));
    for (const step of [
      'dart-env up',
      'dart-eval check',
      'dart-eval fetch-assets',
      'dart-rollout',
      'dart-curate select-tasks',
      'dart-curate pool',
      'dart-curate',
      'dart-train',
      'dart-env down',
      'dart-eval',
    ]) {
      expect([...named], step).toContain(step);
    }
    expect(commands.filter(([name]) => name === 'dart-train')).toHaveLength(1);
  });

  it.each(commands.map((words) => words.join(' ')))('gives options that exist: %s', async (command) => {
    const [name, ...args] = command.split(' ');
    const io = testIo({ env: { XDG_CONFIG_HOME: '/nonexistent', ...variables } });
    const code = await runCommand(SPECS.get(name!)!, [...args, '--print-config'], io);
    expect([io.err(), code]).toEqual(['', 0]);
    const desktops = args[args.indexOf('--env') + 1];
    if (args.includes('--env')) expect(parseDesktops(desktops!).count).toBeGreaterThan(0);
  });

  it('trains a Hugging Face checkpoint with the torch engine, all groups of one store and run', async () => {
    const words = commands.find(([name]) => name === 'dart-train')!;
    const io = testIo({ env: { XDG_CONFIG_HOME: '/nonexistent', ...variables } });
    await runCommand(train, [...words.slice(1), '--print-config'], io);
    expect(io.out()).toContain('"hf:/data/UI-TARS-1.5-7B"');
    expect(variables).toEqual({
      DART_STORE: 'mysql://dart@127.0.0.1/dart',
      DART_BLOBS: '/data/runs/tars/blobs',
      DART_RUN_ID: 'tars',
    });
    for (const value of Object.values(variables)) expect(io.out()).toContain(`"${value}"`);
  });

  it('shows the tables that native/check/budget.py prints', () => {
    const printed = execFileSync('python3', [join(packageRoot(), 'native', 'check', 'budget.py')], {
      encoding: 'utf8',
    });
    const tables = printed.trim().split('\n\n');
    expect(tables).toHaveLength(4);
    for (const table of tables) expect(page).toContain(`\n${table}\n`);
  });
});
