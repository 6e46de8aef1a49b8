import type { OptionSpec, OptionValue } from './spec.ts';
import { either, UsageError } from './usage.ts';

const TRUE = new Set(['1', 'true', 'yes', 'on']);
const FALSE = new Set(['0', 'false', 'no', 'off', '']);

/**
 * The value of an option from text (a flag, an environment variable) or from JSON (a config file).
 * @param where `--max-steps`, `DART_MAX_STEPS`, `config.json: max-steps`.
 * @throws UsageError "expected X but received V".
 */
export function coerce(option: OptionSpec, raw: unknown, where: string): OptionValue {
  if (!option.multiple) return coerceOne(option, raw, where);
  const list = Array.isArray(raw) ? raw : [raw];
  return list.map((item) => String(coerceOne(option, item, where)));
}

function coerceOne(option: OptionSpec, raw: unknown, where: string): string | number | boolean {
  if (option.type === 'boolean') return toBoolean(raw, where);
  if (option.type === 'string') return toText(option, raw, where);
  return toNumber(option, raw, where);
}

function toBoolean(raw: unknown, where: string): boolean {
  if (typeof raw === 'boolean') return raw;
  const text = String(raw).toLowerCase();
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw new UsageError(`expected true or false but received '${raw}'`, { where });
}

function toText(option: OptionSpec, raw: unknown, where: string): string {
  if (typeof raw !== 'string' && typeof raw !== 'number') {
    throw new UsageError(`expected text but received ${JSON.stringify(raw)}`, { where });
  }
  const text = String(raw);
  if (text === '') throw new UsageError(`expected ${option.value ?? 'text'} but received nothing`, { where });
  if (option.choices && !option.choices.includes(text)) {
    throw new UsageError(`expected ${either(option.choices)} but received '${text}'`, { where });
  }
  return text;
}

function toNumber(option: OptionSpec, raw: unknown, where: string): number {
  const text = String(raw).trim();
  const value = typeof raw === 'number' || (typeof raw === 'string' && text !== '') ? Number(text) : Number.NaN;
  const whole = option.type === 'integer';
  const fits = Number.isFinite(value) && (!whole || Number.isSafeInteger(value));
  const within = value >= (option.min ?? -Infinity) && value <= (option.max ?? Infinity);
  if (fits && (within || (option.orZero && value === 0))) return value;
  if (whole && Number.isInteger(value) && !fits) throw tooLarge(raw, where);
  const kind = whole ? 'an integer' : 'a number';
  const range = rangeOf(option);
  const wanted = range === '' ? kind : `${kind}, ${range},`;
  throw new UsageError(`expected ${wanted} but received '${raw}'`, { where });
}

/** Beyond 2^53 neighbours become one number: a seed would be another one than was asked for. */
function tooLarge(raw: unknown, where: string): UsageError {
  const most = `${Number.MAX_SAFE_INTEGER} (2^53 - 1)`;
  return new UsageError(`'${raw}' is too large to be told from its neighbours: the limit is ${most}`, { where });
}

/** `at least 1`, `0 to 1`, `0, or at least 1`, or nothing. */
export function rangeOf(option: OptionSpec): string {
  if (option.orZero) return `0, or ${rangeOf({ ...option, orZero: false })}`;
  if (option.min !== undefined && option.max !== undefined) return `${option.min} to ${option.max}`;
  if (option.min !== undefined) return `at least ${option.min}`;
  return option.max === undefined ? '' : `at most ${option.max}`;
}
