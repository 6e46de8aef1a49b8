import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testIo } from '../lib/cli/io.testing.ts';
import { packageRoot } from '../lib/cli/paths.ts';
import { runCommand } from '../lib/cli/run.ts';
import type { CommandContext, CommandSpec } from '../lib/cli/spec.ts';
import { sessionSettings } from './eval/settings.ts';
import { spec as evaluation } from './eval/spec.ts';
import { settingsOf } from './rollout/settings.ts';
import { spec as rollout } from './rollout/spec.ts';

/** Of a browser. */
const FOREIGN = new Set(['remote-debugging-port']);
const BOTH = [rollout, evaluation];
const namesOf = (spec: CommandSpec) => new Set(spec.options.map(({ name }) => name));
/** `--name` in a text for people. */
const optionsIn = (text: string) => [...text.matchAll(/(?<![\w-])--([a-z][a-z-]+)/g)].map(([, name]) => name!);

describe('options in hints', () => {
  it.each([
    ['dart-rollout', [], ['store', 'run-id']],
    ['dart-rollout', ['--store', 'sqlite:a.db'], ['store', 'run-id']],
    ['dart-eval', [], ['resume']],
    ['dart-eval', ['--resume', 'a.ndjson'], ['resume']],
  ])('of a run whose servers are gone are those of %s %j', async (name, more, wanted) => {
    const spec = BOTH.find((one) => one.name === name)!;
    let hint: string | undefined;
    const run = async (context: CommandContext) => {
      hint = (spec === rollout ? settingsOf(context).session : sessionSettings(context, [])).whenNoneLeft;
      return 0;
    };
    await runCommand({ ...spec, run }, ['--tasks', '-', '--policy', 'random', ...more], testIo());
    expect(optionsIn(hint!)).toEqual(wanted);
    expect(wanted.filter((option) => !namesOf(spec).has(option))).toEqual([]);
  });

  /** What these say may be said by either command. */
  it.each(['lib/osworld', 'lib/policy'])('of %s are those of both commands, or name the command', (folder) => {
    const root = join(packageRoot(), folder);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
    const shipped = files.filter((path) => path.endsWith('.ts') && !/\.(test|testing|bench)\.ts$/.test(path));
    const texts = shipped.flatMap((path) => {
      const code = readFileSync(join(root, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
      // A string with a blank in it: words for people, and no argument of a program.
      return [...code.matchAll(/(['`])((?:(?!\1)[^\n])* (?:(?!\1)[^\n])*)\1/g)].map(([, , text]) => `${path}: ${text}`);
    });
    const named = texts.filter((text) => optionsIn(text).length > 0 && !/dart-[a-z]+/.test(text));
    expect(named.length).toBeGreaterThan(3);
    const strange = named.filter((text) =>
      optionsIn(text).some((name) => !FOREIGN.has(name) && BOTH.some((spec) => !namesOf(spec).has(name))),
    );
    expect(strange).toEqual([]);
  });
});
