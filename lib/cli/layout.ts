import { BUILT_IN } from './flags.ts';
import type { CommandSpec, OptionSpec } from './spec.ts';
import { rangeOf } from './values.ts';

/** What help, man page, completion and reference have in common: how an option is named and what is said of it. */

export const ENVIRONMENT_NOTE =
  'Every option can also be given as DART_<OPTION> in the environment (DART_LOG_FORMAT=json; DART_NO_TABLE=1 turns a switch off) or by its name in the config file. Flags go before the environment, the environment before the file.';

/** `--output FILE`, `--[no-]tis`. */
export function longForm(option: OptionSpec): string {
  if (option.type === 'boolean') return option.default === true ? `--[no-]${option.name}` : `--${option.name}`;
  return `--${option.name} ${placeholderOf(option)}`;
}

/** `-o, --output FILE` */
export function fullForm(option: OptionSpec): string {
  return option.alias === undefined ? longForm(option) : `-${option.alias}, ${longForm(option)}`;
}

/** What stands for the value in the help: `FILE`, `N`. */
export function placeholderOf(option: OptionSpec): string {
  if (option.value !== undefined) return option.value;
  // Of `tis-level` the level is what is chosen.
  if (option.choices) return option.name.slice(option.name.lastIndexOf('-') + 1).toUpperCase();
  return option.type === 'string' ? 'TEXT' : 'N';
}

/** What the table says beside the sentence: choices, range, default. Empty where there is nothing. */
export function detailsOf(option: OptionSpec): string[] {
  const details: string[] = [];
  if (option.required) details.push('required');
  if (option.multiple) details.push('may be repeated');
  if (option.choices) details.push(`one of ${option.choices.join(', ')}`);
  if (rangeOf(option) !== '') details.push(rangeOf(option));
  if (option.default !== undefined && option.default !== false) details.push(`default ${shown(option.default)}`);
  if (option.defaultText !== undefined) details.push(`default ${option.defaultText}`);
  return details;
}

function shown(value: string | number | boolean): string {
  return value === true ? 'on' : String(value);
}

/** Options by heading, in the order of the table; what every command has comes last. */
export function groupsOf(spec: CommandSpec): Map<string, OptionSpec[]> {
  const groups = new Map<string, OptionSpec[]>();
  const all = [...spec.options, ...BUILT_IN];
  const last = (option: OptionSpec) => (option.group === 'General' ? 1 : 0);
  for (const option of all.sort((a, b) => last(a) - last(b))) {
    const heading = option.group ?? 'Options';
    groups.set(heading, [...(groups.get(heading) ?? []), option]);
  }
  return groups;
}

/** `dart-eval score [OPTION]... [FILES]...` */
export function usageOf(spec: CommandSpec, path: readonly string[]): string {
  const positionals = (spec.positionals ?? []).map((positional) => {
    const name = positional.name.toUpperCase() + (positional.multiple ? '...' : '');
    return positional.required ? name : `[${name}]`;
  });
  const command = spec.run ? [] : ['COMMAND'];
  return [...path, ...command, '[OPTION]...', ...positionals].join(' ');
}

/** Code and meaning, in order. */
export function exitCodesOf(spec: CommandSpec): [number, string][] {
  const codes: Record<number, string> = {
    0: 'done',
    2: 'wrong usage, or input or output that cannot be used',
    130: 'ended by Ctrl-C (SIGINT)',
    143: 'ended by SIGTERM',
    ...spec.exitCodes,
  };
  return Object.entries(codes).map(([code, meaning]) => [Number(code), meaning]);
}

/** Lines of at most `width` characters; words longer than that stay whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') lines.push(line);
  return lines;
}
