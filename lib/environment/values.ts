import { DartError } from '../errors.ts';
import type { KindOption, KindValues } from './kind.ts';

/** What was given for one option: text, or what a flag has made of it already. */
export type Given = string | number | boolean | readonly string[];

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/**
 * The values of a kind's options: what was given, else the default.
 * @param given By option name; every name is one of the table's.
 * @param placeOf How messages name an option: `--latency`, or `latency in --env`.
 * @throws DartError "expected X but received V".
 */
export function valuesOf(
  options: readonly KindOption[],
  given: ReadonlyMap<string, Given>,
  placeOf: (name: string) => string,
): KindValues {
  const values: Record<string, KindValues[string]> = {};
  for (const option of options) {
    const raw = given.get(option.name);
    if (raw !== undefined) values[option.name] = oneValue(option, raw, placeOf(option.name));
    else if (option.default !== undefined) values[option.name] = option.default;
  }
  return values;
}

function oneValue(option: KindOption, raw: Given, where: string): KindValues[string] {
  if (option.type === 'list') {
    const items = Array.isArray(raw) ? raw : [raw];
    return items.map((item) => textOf(option, String(item), where));
  }
  if (Array.isArray(raw) && raw.length === 1) return oneValue(option, raw[0]!, where);
  if (Array.isArray(raw)) throw new DartError(`given ${raw.length} times`, { where, hint: 'one value' });
  const text = String(raw);
  if (option.type === 'boolean') return booleanOf(text, where);
  if (option.type === 'string') return textOf(option, text, where);
  return numberOf(option, text, where);
}

function booleanOf(text: string, where: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new DartError(`expected true or false but received '${text}'`, { where });
}

function textOf({ choices, value }: KindOption, text: string, where: string): string {
  if (text === '') throw new DartError(`expected ${value ?? 'text'} but received nothing`, { where });
  if (!choices || choices.includes(text)) return text;
  throw new DartError(`expected one of ${choices.join(', ')} but received '${text}'`, { where });
}

function numberOf(option: KindOption, text: string, where: string): number {
  const number = option.type === 'bytes' ? bytesOf(text) : plainNumber(text);
  const fits = Number.isFinite(number) && (option.type === 'number' || Number.isSafeInteger(number));
  if (fits && number >= (option.min ?? -Infinity) && number <= (option.max ?? Infinity)) return number;
  throw new DartError(`expected ${expectation(option)} but received '${text}'`, { where });
}

function plainNumber(text: string): number {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/** `512m` → 536870912. */
function bytesOf(text: string): number {
  const parts = /^(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?$/.exec(text.toLowerCase());
  return parts ? Math.round(Number(parts[1]) * UNITS[parts[2]!]!) : Number.NaN;
}

function expectation({ type, min, max }: KindOption): string {
  if (type === 'bytes') return 'a size such as 512m or 4g';
  const kind = type === 'integer' ? 'an integer' : 'a number';
  if (min !== undefined && max !== undefined) return `${kind}, ${min} to ${max},`;
  if (min !== undefined) return `${kind}, at least ${min},`;
  return max === undefined ? kind : `${kind}, at most ${max},`;
}
