import { type Config, readConfig } from './config.ts';
import { variableOf } from './environment.ts';
import { type Flags, hasNegation } from './flags.ts';
import { placeholderOf } from './layout.ts';
import type { CommandSpec, Effective, Io, OptionSpec, OptionValue } from './spec.ts';
import { UsageError } from './usage.ts';
import { coerce } from './values.ts';

export type Origin = 'flag' | 'environment' | 'config' | 'default' | 'unset';

export interface Resolved {
  value: OptionValue;
  origin: Origin;
  /** `--n`, `DART_N`, or the path of the config file. */
  where: string;
}

export interface Resolution {
  options: Map<string, Resolved>;
  warnings: string[];
}

/**
 * The value of each option of the table: flag, else `DART_<OPTION>`, else config file, else default.
 * @param commands Names from the command down: `['dart-eval', 'score']`.
 * @throws UsageError for a value that does not fit, or a required option without one.
 */
export function resolveOptions(spec: CommandSpec, flags: Flags, commands: readonly string[], io: Io): Resolution {
  const known = new Set(spec.options.map((option) => option.name));
  const path = flags.values.get('config') ?? (known.has('config') ? io.env.DART_CONFIG || undefined : undefined);
  const config = readConfig(path === undefined ? undefined : String(path), commands, known, io);
  const options = new Map<string, Resolved>();
  for (const option of spec.options) {
    const resolved = resolveOne(option, flags, config, io);
    if (option.required && resolved.value === undefined) throw missing(option, commands);
    options.set(option.name, resolved);
  }
  return { options, warnings: config?.warnings ?? [] };
}

function resolveOne(option: OptionSpec, flags: Flags, config: Config | null, io: Io): Resolved {
  const flag = flags.values.get(option.name);
  if (flag !== undefined) return made(option, flag, 'flag', `--${option.name}`);
  const variable = fromEnvironment(option, io);
  if (variable) return variable;
  if (config?.values.has(option.name)) {
    return made(option, config.values.get(option.name), 'config', `${config.path}: ${option.name}`);
  }
  if (option.default === undefined) return { value: undefined, origin: 'unset', where: '' };
  return { value: option.multiple ? [String(option.default)] : option.default, origin: 'default', where: '' };
}

/** `DART_<OPTION>`; of a switch also `DART_NO_<OPTION>`, which means the opposite. */
function fromEnvironment(option: OptionSpec, io: Io): Resolved | null {
  const variable = variableOf(option.name);
  const negated = variableOf(`no-${option.name}`);
  const text = io.env[variable] ?? '';
  const opposite = hasNegation(option) ? (io.env[negated] ?? '') : '';
  if (text !== '' && opposite !== '')
    throw new UsageError(`given as ${variable} and as ${negated}`, { where: negated });
  if (opposite !== '') {
    const { value, ...resolved } = made(option, opposite, 'environment', negated);
    return { value: value !== true, ...resolved };
  }
  return text === '' ? null : made(option, option.multiple ? text.split(',') : text, 'environment', variable);
}

function made(option: OptionSpec, raw: unknown, origin: Origin, where: string): Resolved {
  return { value: coerce(option, raw, where), origin, where };
}

function missing(option: OptionSpec, commands: readonly string[]): UsageError {
  const value = option.type === 'boolean' ? '' : ` ${placeholderOf(option)}`;
  return new UsageError(`--${option.name} is missing`, { hint: `${commands.join(' ')} --${option.name}${value}` });
}

/**
 * The record of `--print-config`. Passwords inside URLs are not shown.
 * @param effective what is taken for options without a value; others are null.
 */
export function configRecord(
  command: string,
  resolution: Resolution,
  effective: Readonly<Record<string, Effective>> = {},
) {
  const options: Record<string, { value: OptionValue | null; origin: Origin | 'preset'; from?: string }> = {};
  for (const [name, { value, origin, where }] of resolution.options) {
    const taken = value === undefined ? effective[name] : undefined;
    if (taken) options[name] = { value: taken.value, origin: 'preset', from: taken.from };
    else options[name] = { value: withoutPassword(value) ?? null, origin, ...(where ? { from: where } : {}) };
  }
  return { type: 'event', v: 1, event: 'config', command, options };
}

function withoutPassword(value: OptionValue): OptionValue {
  if (Array.isArray(value)) return value.map((item) => String(withoutPassword(item)));
  return typeof value === 'string' ? value.replace(/(:\/\/[^/:@\s]*):[^/\s]*@/g, '$1:***@') : value;
}
