import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { variableOf, variableWarnings } from '../../lib/cli/environment.ts';
import { renderHelp } from '../../lib/cli/help.ts';
import { commandsOf } from '../../lib/cli/pages/tree.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { COMMANDS, generatedFiles } from './files.ts';

const nodes = COMMANDS.flatMap((spec) => commandsOf(spec)).map((node) => ({ ...node, name: node.path.join(' ') }));

describe('generated documentation', () => {
  it.each([...generatedFiles()])('docs/%s is what `make docs` writes', (name, text) => {
    const path = join(packageRoot(), 'docs', name);
    expect(existsSync(path), `${name} is missing`).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

describe('variables of the environment', () => {
  it('draw no warning from the commands that they are not meant for', () => {
    const env = Object.fromEntries(
      nodes.flatMap(({ spec }) => spec.options.map(({ name }) => [variableOf(name), '1'])),
    );
    const warnings = COMMANDS.flatMap((root) =>
      commandsOf(root).flatMap(({ spec }) => variableWarnings(env, spec, root)),
    );
    expect(Object.keys(env)).toContain('DART_PRESET');
    expect(warnings).toEqual([]);
  });
});

describe.each(nodes)('the table of $name', ({ spec, path }) => {
  it('says of each option what it does, in one sentence without a full stop', () => {
    for (const option of [...spec.options, ...(spec.positionals ?? [])]) {
      expect(option.describe.trim().length, option.name).toBeGreaterThan(8);
      expect(option.describe, option.name).not.toMatch(/\.$/);
    }
    expect(spec.summary).not.toMatch(/\.$/);
  });

  it('names each option once, long and short', () => {
    const names = spec.options.flatMap((option) => [option.name, ...(option.alias ? [option.alias] : [])]);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it('gives defaults that its own rules allow', () => {
    for (const option of spec.options) {
      if (option.choices && option.default !== undefined) expect(option.choices).toContain(option.default);
      if (typeof option.default !== 'number') continue;
      expect(option.default, option.name).toBeGreaterThanOrEqual(option.min ?? -Infinity);
      expect(option.default, option.name).toBeLessThanOrEqual(option.max ?? Infinity);
    }
  });

  it('fits its help into 80 columns', () => {
    const long = renderHelp(spec, path)
      .split('\n')
      .filter((line) => line.length > 80);
    expect(long).toEqual([]);
  });
});
