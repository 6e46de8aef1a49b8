import { describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import type { OptionValue } from '../../lib/cli/spec.ts';
import { KINDS, kindNamed, optionsOf } from '../../lib/environment/kinds.ts';
import { flagName, givenFor, kindFlags } from './kind_flags.ts';

const context = (options: Record<string, OptionValue>) => ({
  io: { ...testIo(), cwd: '/' } as never,
  options,
  positionals: [],
});
const given = (kind: string, options: Record<string, OptionValue>) =>
  Object.fromEntries(givenFor(kindNamed(kind, ''), context(options)));

describe('kindFlags', () => {
  const flags = kindFlags();
  const flag = (name: string) => flags.find((option) => option.name === name)!;

  it('has every option of every kind, by kind, and what all have last', () => {
    for (const kind of KINDS) {
      for (const { name } of optionsOf(kind))
        expect(flag(flagName(kind.name, name)), `${kind.name} ${name}`).toBeDefined();
    }
    const groups = [...new Set(flags.map(({ group }) => group))];
    expect(groups.slice(0, 3)).toEqual(['Desktops of embedded', 'Desktops of attach', 'Desktops of xvfb']);
    expect(groups.at(-1)).toBe('Real desktops');
  });

  it('makes one text of what means something else to each kind, and shows the defaults that kinds set', () => {
    expect(flag('reset')).toMatchObject({ type: 'string', value: 'VALUE' });
    expect(flag('reset').describe).toContain(
      'embedded: how long a reset takes (default 0); docker: between two rollouts',
    );
    expect(flag('latency')).toMatchObject({ type: 'number', min: 0, defaultText: '0' });
    expect(flag('latency').default).toBeUndefined();
    expect(flag('vm-memory').defaultText).toBe('4g');
    expect(flag('url')).toMatchObject({ type: 'string', multiple: true });
  });

  it('keeps out of the way of the options that dart-env up has itself', () => {
    expect([flagName('kubernetes', 'port'), flagName('kubernetes', 'namespace')]).toEqual([
      'kubernetes-port',
      'namespace',
    ]);
    expect(flags.map(({ name }) => name)).not.toContain('grace');
  });
});

describe('givenFor', () => {
  it('takes what is of the kind', () => {
    expect(given('embedded', { latency: 20, reset: '5', quiet: true })).toEqual({ latency: 20, reset: '5' });
    expect(given('docker', { reset: 'session', memory: '1g' })).toEqual({ reset: 'session', memory: '1g' });
  });

  it('refuses what is of another one', () => {
    expect(() => given('docker', { latency: 20 })).toThrow(
      expect.objectContaining({
        where: '--latency',
        message: 'is no option of docker desktops',
        hint: '--driver embedded',
      }),
    );
  });
});
