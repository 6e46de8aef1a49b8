import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsOf } from '../../lib/cli/pages/tree.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { GROUP_REASONS, NOTICES, RECORD_REASONS, TRAJECTORY_REASONS } from '../../lib/curation/reasons.ts';
import { COMMANDS } from './files.ts';

const DOCS = join(packageRoot(), 'docs');
const PAGES = [
  join(packageRoot(), 'README.md'),
  ...readdirSync(DOCS).flatMap((name) => (name.endsWith('.md') ? [join(DOCS, name)] : [])),
];
const known = new Set(COMMANDS.flatMap((spec) => commandsOf(spec)).map((node) => node.path.join(' ')));

/** `dart-x word` that starts a code span or stands in an indented block or a pipe: there a word is a subcommand. */
function named(page: string): string[] {
  const code = page.split('\n').flatMap((line) => {
    if (line.startsWith('    ')) return [line];
    return [...line.matchAll(/`([^`]+)`/g)].map(([, span]) => span!);
  });
  const starts = code.flatMap((text) => [
    ...text.matchAll(/(?:^|[|;&(] *|bin\/) *(dart-[a-z]+) ([a-z][a-z-]*)(?=$|[ )])/g),
  ]);
  return starts.map(([, program, word]) => `${program} ${word}`);
}

describe('the pages', () => {
  it('name subcommands, by which this test is worth something', () => {
    const all = PAGES.flatMap((path) => named(readFileSync(path, 'utf8')));
    expect(all).toEqual(expect.arrayContaining(['dart-curate pool', 'dart-env tasks', 'dart-train export']));
    expect(named('`dart-env list` and\n    bin/dart-env lost | dart-curate x.ndjson')).toEqual([
      'dart-env list',
      'dart-env lost',
    ]);
  });

  it.each(PAGES)('name no command that does not exist: %s', (path) => {
    expect(named(readFileSync(path, 'utf8')).filter((name) => !known.has(name))).toEqual([]);
  });

  it('advise no command that does not exist', () => {
    const meanings = [TRAJECTORY_REASONS, GROUP_REASONS, RECORD_REASONS, NOTICES].flatMap((each) =>
      Object.values(each),
    );
    const advice = meanings.map((meaning) => meaning.try).join('\n');
    const commands = [...advice.matchAll(/dart-[a-z]+ [a-z-]+/g)].map(([name]) => name);
    expect(commands).toContain('dart-env tasks');
    expect(commands.filter((name) => !known.has(name))).toEqual([]);
  });
});
