import { DartError } from '../../errors.ts';
import type { Metric, MetricInput } from '../kinds.ts';
import { isRecord, pythonPattern } from '../rules.ts';
import { sameUrl } from '../urls.ts';
import { rulesOf } from './input.ts';

/** The address of a tab: the getters bring a text or `{url}`; null without one. */
function urlOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return isRecord(value) && typeof value.url === 'string' ? value.url : null;
}

function onlyUrls(input: MetricInput): void {
  const type = rulesOf(input).text('type');
  if (type !== 'url') throw new DartError(`metric ${input.name}: unknown rule type ${type}`, { where: input.where });
}

/** `{type: url, url}`: the active tab shows this address. */
const activeTab: Metric = (input) => {
  if (!input.result) return 0;
  onlyUrls(input);
  return Number(sameUrl(rulesOf(input).text('url'), urlOf(input.result)));
};

/** As `is_expected_active_tab`, without the query, everything else letter by letter. */
const activeTabApproximate: Metric = (input) => {
  const url = urlOf(input.result);
  if (url === null) return 0;
  onlyUrls(input);
  const bare = (text: string) => text.replace(/\?[^#]*/, '');
  return Number(bare(url) === bare(rulesOf(input).text('url')));
};

/** `{type: url, urls}`: as many tabs as addresses, each address open in one (osworld.md §7.24: one-way). */
const tabs: Metric = (input) => {
  const open = Array.isArray(input.result) ? input.result : [];
  if (open.length === 0) return 0;
  onlyUrls(input);
  const urls = rulesOf(input).texts('urls');
  const isOpen = (url: string) => open.some((tab) => sameUrl(url, urlOf(tab)));
  return Number(urls.length === open.length && urls.every(isOpen));
};

/** Every pattern of `expected` is found in the address. */
const urlPattern: Metric = (input) => {
  const url = urlOf(input.result);
  if (!url) return 0;
  return Number(
    rulesOf(input)
      .texts('expected')
      .every((pattern) => pythonPattern(pattern).test(url)),
  );
};

/** `{expect: {pattern}}`: the pattern is found in the address. */
const searchQuery: Metric = (input) => {
  const url = urlOf(input.result);
  if (!url) return 0;
  return Number(pythonPattern(String(rulesOf(input).object('expect').pattern)).test(url));
};

interface Bookmark {
  type?: string;
  name?: string;
  url?: string;
  children?: Bookmark[];
}

/** Folder names or addresses of the bookmark bar as sets, or the addresses of one folder. */
const bookmarks: Metric = (input) => {
  const bar = isRecord(input.result) ? (input.result.bookmark_bar as Bookmark | undefined) : undefined;
  if (bar === undefined) return 0;
  const rules = rulesOf(input);
  const children = bar.children ?? [];
  const type = rules.text('type');
  if (type === 'bookmark_bar_folders_names') {
    const names = children.filter((child) => child.type === 'folder').map((child) => child.name ?? '');
    return Number(sameSet(names, rules.texts('names')));
  }
  if (type === 'bookmark_bar_websites_urls') return Number(sameSet(urlsOf(children), rules.texts('urls')));
  if (type !== 'liked_authors_websites_urls') throw rules.wrong('type', 'a rule for bookmarks');
  const names = rules.texts('names', ['Liked Authors']);
  const folder = children.find((child) => child.type === 'folder' && names.includes(child.name ?? ''));
  return Number(folder !== undefined && oneOfEach(urlsOf(folder.children ?? []), rules.list('urls')));
};

function urlsOf(list: Bookmark[]): string[] {
  return list.filter((child) => child.type === 'url').map((child) => child.url ?? '');
}

function sameSet(a: string[], b: string[]): boolean {
  const [first, second] = [new Set(a), new Set(b)];
  return first.size === second.size && [...first].every((item) => second.has(item));
}

/** True where some choice of one alternative from each entry is exactly the set of addresses. */
function oneOfEach(urls: string[], alternatives: unknown[]): boolean {
  const choices = alternatives.map((entry) => (Array.isArray(entry) ? entry.map(String) : [String(entry)]));
  const pick = (index: number, chosen: string[]): boolean => {
    if (index === choices.length) return sameSet(chosen, urls);
    return choices[index]!.some((url) => urls.includes(url) && pick(index + 1, [...chosen, url]));
  };
  return pick(0, []);
}

/** `{keywords}`: none of them is in a visited address. */
const historyDeleted: Metric = (input) => {
  const rules = rulesOf(input);
  if (rules.text('type') !== 'keywords') throw rules.wrong('type', '"keywords"');
  const urls = (Array.isArray(input.result) ? input.result : []).map((row) =>
    String(Array.isArray(row) ? row[0] : row),
  );
  return Number(!rules.texts('keywords').some((keyword) => urls.some((url) => url.includes(keyword))));
};

/** The browser's default font size: `{type: value, value}` or `{type: range, min, max}` (both ends excluded). */
const fontSize: Metric = (input) => {
  const rules = rulesOf(input);
  const size = isRecord(input.result) ? Number(input.result.default_font_size) : Number.NaN;
  const type = rules.text('type');
  if (type === 'value') return Number(size === rules.number('value'));
  if (type === 'range') return Number(rules.number('min') < size && size < rules.number('max'));
  throw rules.wrong('type', '"value" or "range"');
};

export const browserMetrics: Record<string, Metric> = {
  is_expected_active_tab: activeTab,
  is_expected_active_tab_approximate: activeTabApproximate,
  is_expected_tabs: tabs,
  is_expected_url_pattern_match: urlPattern,
  is_expected_search_query: searchQuery,
  is_expected_bookmarks: bookmarks,
  check_history_deleted: historyDeleted,
  check_font_size: fontSize,
};
