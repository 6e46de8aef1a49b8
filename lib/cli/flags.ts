import type { Options } from 'yargs';
import type { CommandSpec, OptionSpec } from './spec.ts';
import { nearest, UsageError } from './usage.ts';

export interface Flags {
  /** Text (or true/false) by option name, as given; several for an option that may be repeated. */
  values: Map<string, unknown>;
  positionals: string[];
}

/** Options that every command has without listing them. */
export const BUILT_IN: readonly OptionSpec[] = [
  { name: 'help', alias: 'h', type: 'boolean', describe: 'Show this help', group: 'General' },
  { name: 'version', type: 'boolean', describe: 'Print the version of the toolkit', group: 'General' },
];

/** What yargs should leave alone: names with dots and dashes, numbers, and the `--no-` that is looked at here. */
const PLAIN = {
  'boolean-negation': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  'greedy-arrays': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'strip-aliased': true,
};

/**
 * What stands on the command line. Values stay text: `values.ts` makes them numbers.
 * @param path Names from the command down, for messages: `['dart-eval', 'score']`.
 * @throws UsageError for unknown (with the nearest known), repeated, contradictory or valueless options.
 */
export async function parseFlags(spec: CommandSpec, argv: readonly string[], path: readonly string[]): Promise<Flags> {
  const { default: yargs } = await import('yargs');
  const parsed = yargs([...argv])
    .options(yargsOptions(spec.options))
    .parserConfiguration(PLAIN)
    .help(false)
    .version(false)
    .locale('en')
    .exitProcess(false)
    .fail((message: string) => {
      throw new UsageError(plainer(message));
    })
    .parseSync() as Record<string, unknown> & { _: (string | number)[] };
  const command = path.join(' ');
  const values = new Map<string, unknown>();
  for (const [key, value] of Object.entries(parsed)) {
    if (key !== '_' && key !== '$0' && value !== undefined) accept(spec, values, key, value, command);
  }
  const positionals = parsed._.map(String);
  checkPositionals(spec, positionals, command);
  return { values, positionals };
}

function yargsOptions(options: readonly OptionSpec[]): Record<string, Options> {
  const table: Record<string, Options> = {};
  for (const option of options) {
    const common = option.alias === undefined ? {} : { alias: option.alias };
    if (option.type === 'boolean') {
      table[option.name] = { ...common, type: 'boolean', default: undefined };
      if (hasNegation(option)) table[`no-${option.name}`] = { type: 'boolean', default: undefined };
      continue;
    }
    table[option.name] = { ...common, type: 'string', requiresArg: true };
  }
  return table;
}

/** True for a switch that also goes as `--no-…`. */
export function hasNegation(option: OptionSpec): boolean {
  return option.type === 'boolean' && !option.name.startsWith('no-');
}

function accept(spec: CommandSpec, values: Map<string, unknown>, key: string, value: unknown, command: string): void {
  const option = spec.options.find((candidate) => candidate.name === key);
  if (option) {
    setOnce(values, option, value, `--${key}`);
    return;
  }
  const negated = spec.options.find((candidate) => hasNegation(candidate) && `no-${candidate.name}` === key);
  if (!negated) throw unknownOption(spec, key, command);
  setOnce(values, negated, value !== true, `--${key}`);
}

function setOnce(values: Map<string, unknown>, option: OptionSpec, value: unknown, where: string): void {
  if (values.has(option.name)) throw new UsageError(`given as --${option.name} and as --no-${option.name}`, { where });
  if (Array.isArray(value) && !option.multiple && option.type !== 'boolean') {
    throw new UsageError(`given ${value.length} times`, { where, hint: 'one value' });
  }
  values.set(option.name, Array.isArray(value) && option.type === 'boolean' ? value.at(-1) : value);
}

function unknownOption(spec: CommandSpec, key: string, command: string): UsageError {
  const shown = key.length === 1 ? `-${key}` : `--${key}`;
  const names = [...spec.options, ...BUILT_IN].flatMap((option) =>
    hasNegation(option) ? [option.name, `no-${option.name}`] : [option.name],
  );
  // Of letters each is as near as the other.
  const near = key.length === 1 ? undefined : nearest(key, names);
  return new UsageError(`unknown option ${shown}`, { hint: near ? `--${near}` : `${command} --help` });
}

function checkPositionals(spec: CommandSpec, positionals: readonly string[], command: string): void {
  const wanted = spec.positionals ?? [];
  const sub = (spec.subcommands ?? []).find((candidate) => candidate.name === positionals[0]);
  if (sub) throw new UsageError(`the subcommand ${sub.name} comes first`, { hint: `${command} ${sub.name} …` });
  const missing = wanted.find((positional, i) => positional.required && positionals[i] === undefined);
  if (missing) throw new UsageError(`${missing.name.toUpperCase()} is missing`, { hint: `${command} --help` });
  if (wanted.some((positional) => positional.multiple) || positionals.length <= wanted.length) return;
  const extra = positionals[wanted.length] as string;
  const near = nearest(
    extra,
    (spec.subcommands ?? []).map((candidate) => candidate.name),
  );
  throw new UsageError(`unexpected argument '${extra}'`, { hint: near ?? `${command} --help` });
}

/** "Not enough arguments following: n" in the words of the other messages. */
function plainer(message: string): string {
  const following = /^Not enough arguments following: (.+)$/.exec(message);
  if (!following) return message;
  const name = following[1] as string;
  return `${name.length === 1 ? `-${name}` : `--${name}`} needs a value`;
}
