import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { arpoSettingsFrom } from './arpo/pieces.ts';
import { type Environment, helpOf, type Program, requestOf, Variables } from './program.ts';
import { ABLATION, ARPO, PROGRAMS, SCALING, settingsText } from './programs.ts';
import { scalingSettingsFrom } from './scaling/settings.ts';
import { settingsFrom } from './settings.ts';

const program: Program<'COUNT' | 'SHARE' | 'NAMES', 'fast'> = {
  ...{ name: 'thing', summary: 'a thing', words: { one: 'only one', two: 'only two' }, flags: { fast: 'quickly' } },
  variables: {
    COUNT: { otherwise: 3, describe: 'how many' },
    SHARE: { otherwise: 'COUNT / 2', describe: 'which part' },
    NAMES: { otherwise: 'all', describe: 'which' },
  },
};

describe('ARGS', () => {
  it('are a word and options that the program knows', () => {
    expect(requestOf(program, ['--fast', 'two'])).toEqual({ word: 'two', flags: new Set(['fast']), help: false });
    expect(requestOf(program, [])).toEqual({ word: null, flags: new Set(), help: false });
    expect([requestOf(program, ['-h']).help, requestOf(program, ['one', '--help']).help]).toEqual([true, true]);
  });

  it('are refused where they say something else, with what is known', () => {
    const refused = (...args: string[]) => {
      try {
        return requestOf(program, args);
      } catch (error) {
        return (error as { describe(): string }).describe();
      }
    };
    expect(refused('tow')).toBe('ARGS: there is no word tow: known are one, two. Try: ARGS=two');
    expect(refused('everything')).toBe('ARGS: there is no word everything: known are one, two. Try: ARGS=--help');
    expect(refused('--fsat')).toBe('ARGS: there is no option --fsat: known are --fast, --help. Try: ARGS=--fast');
    expect(refused('-f')).toContain('there is no option -f: known are --fast, --help');
    expect(refused('--constructor')).toContain('there is no option --constructor');
    expect(refused('one', 'two')).toBe('ARGS: one word at a time, not one two. Try: ARGS=one');
    expect(() => requestOf({ ...program, words: {} }, ['one'])).toThrow('there is no word one: none is known');
  });
});

describe('variables', () => {
  const variables = (env: Environment) => new Variables(program, env);

  it('are what was said, or what the table has', () => {
    expect([variables({}).number('COUNT'), variables({ COUNT: '' }).number('COUNT')]).toEqual([3, 3]);
    expect([variables({ COUNT: '4' }).whole('COUNT'), variables({}).number('SHARE', 1.5)]).toEqual([4, 1.5]);
    expect([variables({}).wholeOrAll('NAMES'), variables({ NAMES: '2' }).wholeOrAll('NAMES')]).toEqual([null, 2]);
    expect([variables({}).text('NAMES'), variables({ NAMES: 'x' }).text('NAMES')]).toEqual(['all', 'x']);
    expect(variables({ NAMES: ' a, b' }).list('NAMES', ['a'])).toEqual(['a', 'b']);
    expect(variables({}).list('NAMES', ['a'])).toBeUndefined();
  });

  it('name a folder in one way', () => {
    const folders = ['runs/x', 'runs/x/', './runs//x/', 'runs/y/../x', '/', './', '/tmp/x/'];
    expect(folders.map((NAMES) => variables({ NAMES }).folder('NAMES'))).toEqual([
      ...['runs/x', 'runs/x', 'runs/x', 'runs/x', '/', '.', '/tmp/x'],
    ]);
    const dirs = [settingsFrom, arpoSettingsFrom, scalingSettingsFrom].map(
      (read) => read({ RUN_DIR: './runs/x/' }).dir,
    );
    expect(dirs).toEqual(['runs/x', 'runs/x', 'runs/x']);
  });

  it('say what makes no sense', () => {
    expect(() => variables({ COUNT: '-1' }).number('COUNT')).toThrow('expected a number above 0, not -1');
    expect(() => variables({ COUNT: '1.5' }).whole('COUNT')).toThrow('expected a whole number, not 1.5');
    expect(() => variables({ NAMES: ', ,' }).list('NAMES', ['a'])).toThrow("names none in ', ,'");
  });
});

describe('the tables of the programs', () => {
  const readers: [Program, (env: Environment) => unknown][] = [
    [ABLATION, settingsFrom],
    [ARPO, arpoSettingsFrom],
    [SCALING, scalingSettingsFrom],
  ];

  it.each(readers)('have every variable that is read, and no other: $name', ({ variables }, read) => {
    const seen = new Set<string>();
    const env = new Proxy({} as Record<string, string>, {
      get: (_, name) => {
        seen.add(String(name));
        return undefined;
      },
    });
    read(env);
    expect([...seen].sort()).toEqual(Object.keys(variables).sort());
  });

  it('are the only way to the environment', () => {
    const root = join(packageRoot(), 'commands/ablation');
    const sources = readdirSync(root, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
    expect(sources.length).toBeGreaterThan(30);
    const reading = sources.filter((name) => /process\.env|\benv\.[A-Z]/.test(readFileSync(join(root, name), 'utf8')));
    expect(reading).toEqual(['play.ts']);
  });

  it.each(PROGRAMS)('are its help: $name', (known) => {
    const help = helpOf(known);
    expect(help).toContain(`Usage: make ${known.name} [VARIABLE=VALUE]...`);
    const names = [
      ...Object.keys(known.words),
      ...Object.keys(known.variables),
      ...[...Object.keys(known.flags), 'help'].map((flag) => `--${flag}`),
    ];
    const listed = [...help.matchAll(/^ {2}(\S+) {2,}/gm)].map((match) => match[1]!);
    expect(listed.filter((name) => !/^[\d]+,?$/.test(name)).sort()).toEqual(names.sort());
    expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it('say the same of a variable in one row, and have a default in the column of each program that takes it', () => {
    const rows = settingsText().split('\n');
    expect(rows).toContain('| `SEEDS` | 5 | 5 | – | Paired seeds, from 1 to this. |');
    expect(rows).toContain(
      '| `SCALE` | – | – | 60 | Real desktops and requests are so many times faster than the workload. |',
    );
    expect(rows.filter((row) => row.startsWith('| `TRAJECTORIES`'))).toHaveLength(2);
    expect(rows.find((row) => row.startsWith('| `--report`'))).toMatch(
      /^\| `--report` \| yes \| – \| – \| Make nothing/,
    );
  });
});
