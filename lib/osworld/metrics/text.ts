import { DartError } from '../../errors.ts';
import type { Metric, MetricInput } from '../kinds.ts';
import { equal, isRecord } from '../rules.ts';
import { textRatio } from '../similarity.ts';
import { ruleOf, rulesOf, rulesWith } from './input.ts';

/** 1 when the result equals `expected`. */
const exactMatch: Metric = (input) => Number(equal(input.result, ruleOf(input, 'expected')));

/** 1 when the result is a member of the list `expected` (or a part of the string `expected`). */
const matchInList: Metric = (input) => {
  const expected = ruleOf(input, 'expected');
  if (!Array.isArray(expected) && typeof expected !== 'string') throw rulesOf(input).wrong('expected', 'a list');
  return Number(contains(expected, input.result));
};

/** 1 when `expected` is a member of the result. */
const isInList: Metric = (input) => Number(contains(input.result, ruleOf(input, 'expected')));

/** Python's `in` for lists and strings. */
function contains(holder: unknown, member: unknown): boolean {
  if (Array.isArray(holder)) return holder.some((item) => equal(item, member));
  return typeof holder === 'string' && typeof member === 'string' && holder.includes(member);
}

/** Options `type: str|list`, `ignore_case`; compares the texts of result and expected. */
const literalMatch: Metric = (input) => {
  const { options, result, expected } = input;
  const type = options.text('type', 'str');
  const fold = (value: unknown) => (options.flag('ignore_case') ? String(value).toLowerCase() : String(value));
  const isList = Array.isArray(expected);
  const isNone = expected === undefined || expected === null || isRecord(expected);
  if (isNone || (type === 'list' && !isList)) {
    const wanted = type === 'list' ? 'a list' : 'a value';
    throw new DartError(`metric ${input.name} needs ${wanted} to compare with`, { where: input.where });
  }
  if (type === 'str') return Number(fold(result) === fold(expected));
  if (type !== 'list') throw options.wrong('type', '"str" or "list"');
  if (!Array.isArray(result) || !isList) return 0;
  return Number(equal(result.map(fold), expected.map(fold)));
};

/** Similarity of the result to `expected`, 0..1. */
const fuzzyMatch: Metric = (input) => textRatio(textResult(input) ?? '', rulesOf(input).text('expected'));

/** 1 when every `include` is in the result and no `exclude` is. */
const checkIncludeExclude: Metric = (input) => {
  const rules = rulesWith(input, 'include', 'exclude');
  const text = textResult(input);
  if (text === null) return 0;
  const hasAll = rules.texts('include', []).every((part) => text.includes(part));
  return Number(hasAll && !rules.texts('exclude', []).some((part) => text.includes(part)));
};

function textResult(input: MetricInput): string | null {
  return input.result === null || input.result === undefined ? null : String(input.result);
}

/** `timedatectl` output that shows an offset of zero. */
const isUtc0: Metric = (input) => Number(/Time zone:.*\+0000\)/.test(textResult(input) ?? ''));

/** The dock's favourites, as `gsettings get` prints them, are the `expected` ones in any order. */
const favoriteApps: Metric = (input) => {
  const found = [...(textResult(input) ?? '').matchAll(/'([^']*)'/g)].map((match) => match[1]!);
  return Number(equal([...found].sort(), [...rulesOf(input).texts('expected')].sort()));
};

/** `{type: contain|not_contain, expected}` on a list of extensions. */
const isExtensionInstalled: Metric = (input) => {
  const rules = rulesOf(input);
  const isThere = (textResult(input) ?? '').includes(rules.text('expected'));
  const type = rules.text('type');
  if (type !== 'contain' && type !== 'not_contain') throw rules.wrong('type', '"contain" or "not_contain"');
  return Number(isThere === (type === 'contain'));
};

export const textMetrics: Record<string, Metric> = {
  exact_match: exactMatch,
  match_in_list: matchInList,
  is_in_list: isInList,
  literal_match: literalMatch,
  fuzzy_match: fuzzyMatch,
  check_include_exclude: checkIncludeExclude,
  is_utc_0: isUtc0,
  check_gnome_favorite_apps: favoriteApps,
  is_extension_installed: isExtensionInstalled,
};
