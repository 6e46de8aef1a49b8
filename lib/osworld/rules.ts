import { DartError } from '../errors.ts';
import { Fields } from './fields.ts';

/** Python's `==` on what JSON can hold: deep, `True == 1`, order of keys without meaning. */
export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (isRecord(a)) {
    if (!isRecord(b) || Object.keys(a).length !== Object.keys(b).length) return false;
    return Object.keys(a).every((key) => key in b && equal(a[key], b[key]));
  }
  return plain(a) === plain(b);
}

function plain(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return value ?? null;
}

/** True for an object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A Python pattern as a JavaScript one: inline flags `(?i)`, named groups `(?P<n>…)`, `\A` and `\Z`. */
export function pythonPattern(pattern: string, flags = ''): RegExp {
  const inline = /^\(\?([ims]+)\)/.exec(pattern);
  const body = pattern
    .slice(inline?.[0].length ?? 0)
    .replace(/\(\?P</g, '(?<')
    .replace(/\\A/g, '^')
    .replace(/\\Z/g, '$');
  return new RegExp(body, [...new Set(`${flags}${inline?.[1] ?? ''}`)].join(''));
}

type Match = (value: unknown, ref: unknown, argument: string) => boolean;

/** The methods of OSWorld's value rules `{method, ref}` (osworld.md §4) by name, their argument after the first ":". */
const METHODS: Record<string, Match> = {
  eq: equal,
  ne: (value, ref) => !equal(value, ref),
  lt: (value, ref) => Number(value) < Number(ref),
  le: (value, ref) => Number(value) <= Number(ref),
  gt: (value, ref) => Number(value) > Number(ref),
  ge: (value, ref) => Number(value) >= Number(ref),
  'str.eq': (value, ref) => String(value) === String(ref),
  approx: (value, ref, tolerance) => Math.abs(Number(value) - Number(ref)) <= Number(tolerance),
  str_list_eq: (value, ref, separator) => equal(String(value).split(separator || ','), ref),
  str_set_eq: (value, ref, separator) => equal([...new Set(String(value).split(separator || ','))].sort(), sorted(ref)),
  'list.eq': equal,
  in: (value, ref) => Array.isArray(ref) && ref.some((item) => equal(item, value)),
  not_in: (value, ref) => Array.isArray(ref) && !ref.some((item) => equal(item, value)),
};

/** Methods whose `ref` is a list. */
const LISTED = new Set(['in', 'not_in', 'list.eq']);

function sorted(ref: unknown): unknown {
  return Array.isArray(ref) ? [...new Set(ref.map(String))].sort() : ref;
}

/** True where `value` meets the rule `{method, ref}`. Throws a DartError naming an unknown method. */
export function matchesRule(value: unknown, rule: unknown, owner: string, where: string): boolean {
  const fields = new Fields(owner, where, rule);
  const method = fields.text('method');
  if (/^re(\.[IMSX])*$/.test(method)) {
    const flags = method.split('.').slice(1).join('').toLowerCase().replace('x', '');
    const pattern = pythonPattern(fields.text('ref'), flags);
    return typeof value === 'string' && pattern.test(value);
  }
  const colon = method.indexOf(':');
  const match = METHODS[colon < 0 ? method : method.slice(0, colon)];
  if (match === undefined) throw new DartError(`${owner}: unknown method ${method}`, { where });
  const { ref } = fields.values;
  if (ref === undefined) throw fields.wrong('ref', 'there');
  if (LISTED.has(method) && !Array.isArray(ref)) throw fields.wrong('ref', 'a list');
  return match(value, ref, colon < 0 ? '' : method.slice(colon + 1));
}
