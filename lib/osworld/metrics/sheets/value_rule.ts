import { DartError } from '../../../errors.ts';
import type { Fields } from '../../fields.ts';
import { holds, type Range, rangesOf } from '../../formats/xlsx/ranges.ts';
import { equal, pythonPattern } from '../../rules.ts';

/** What a rule `{method, ref}` may be asked of: a plain value, or the ranges of a validation. */
export type RuleValue = number | string | boolean | null | Range[] | Record<string, string>;

type Compare = (order: number) => boolean;
const ORDERS: Record<string, Compare> = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

/**
 * True where `value` meets the rule: `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `approx:0.1`, `re.I`, `range.te`,
 * `spreadsheet_range`, `str_list_eq`, `str_set_eq`.
 * Throws a DartError where the rule makes no sense, an Error where the value is of a kind that it cannot be asked of.
 */
export function meetsRule(value: RuleValue, rule: Fields): boolean {
  const method = rule.text('method');
  const { ref } = rule.values;
  if (ref === undefined) throw rule.wrong('ref', 'there');
  if (method === 'eq') return equal(value, ref);
  if (method === 'ne') return !equal(value, ref);
  const order = ORDERS[method];
  if (order !== undefined) {
    if (typeof ref === 'object') throw rule.wrong('ref', 'a number or a text');
    return order(orderOf(value, ref));
  }
  if (method.startsWith('re')) {
    const flags = method
      .split('.')
      .slice(1)
      .map((flag) => flag[0]!.toLowerCase());
    const known = flags.filter((flag) => 'ims'.includes(flag)).join('');
    return ofRule(rule, 'a pattern', () => pythonPattern(rule.text('ref'), known)).test(textOf(value));
  }
  if (method.startsWith('approx')) {
    const tolerance = Number(method.split(':')[1]);
    if (Number.isNaN(tolerance)) throw rule.wrong('method', 'approx:0.1 or its like');
    return isNear(value, rule.number('ref'), tolerance);
  }
  if (method === 'spreadsheet_range') {
    const [least = '', most = ''] = rule.texts('ref');
    return isBetween(
      value,
      ofRule(rule, 'two ranges', () => [rangesOf(least), rangesOf(most)] as const),
    );
  }
  if (method.startsWith('range.')) {
    const ends = rule.list('ref');
    if (ends.length !== 2 || !ends.every((end) => typeof end === 'number')) throw rule.wrong('ref', 'two numbers');
    return isInside(value, ends, method);
  }
  if (method === 'str_list_eq' || method === 'str_set_eq') {
    const parts = stripQuotes(textOf(value)).split(',');
    const wanted = rule.texts('ref');
    return method === 'str_list_eq' ? equal(parts, wanted) : equal(distinct(parts), distinct(wanted));
  }
  throw new DartError(`${rule.owner}: unknown method ${method}`, { where: rule.where });
}

/** What is made of `ref`; one that breaks is the task's mistake. */
function ofRule<T>(rule: Fields, wanted: string, make: () => T): T {
  try {
    return make();
  } catch {
    throw rule.wrong('ref', wanted);
  }
}

function orderOf(value: unknown, ref: unknown): number {
  const [a, b] = [value, ref].map((side) => (typeof side === 'boolean' ? Number(side) : side));
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  throw new Error(`${JSON.stringify(value)} and ${JSON.stringify(ref)} have no order`);
}

function isNear(value: RuleValue, ref: number, tolerance: number): boolean {
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  const number = isPlain
    ? Number(value)
    : typeof value === 'string' && value.trim() !== ''
      ? Number(value)
      : Number.NaN;
  return Math.abs(number - ref) <= tolerance;
}

/** The ranges hold those of the first, and lie within those of the second. */
function isBetween(value: RuleValue, [least, most]: readonly [Range[], Range[]]): boolean {
  if (!Array.isArray(value)) throw new Error('the value is no range');
  const within = (inner: Range[], outer: Range[]) => inner.every((one) => outer.some((other) => holds(other, one)));
  return within(least, value) && within(value, most);
}

/** `range.te` and `[0, 2]`: 0 < value <= 2. */
function isInside(value: RuleValue, [least, most]: unknown[], method: string): boolean {
  const [left, right] = [...method.slice('range.'.length)].map((letter) => ORDERS[`l${letter}`]);
  if (left === undefined || right === undefined) throw new DartError(`unknown method ${method}`);
  return left(orderOf(least, value)) && right(orderOf(value, most));
}

function textOf(value: RuleValue): string {
  if (typeof value !== 'string') throw new Error(`${JSON.stringify(value)} is no text`);
  return value;
}

function stripQuotes(text: string): string {
  return text.replace(/^["']+|["']+$/g, '');
}

function distinct(values: string[]): string[] {
  return [...new Set(values)].sort();
}
