import { DartError } from '../../errors.ts';
import { Fields } from '../fields.ts';
import type { Metric, MetricInput } from '../kinds.ts';
import { equal, isRecord, pythonPattern } from '../rules.ts';
import { normalUrl, sameUrl } from '../urls.ts';
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
  onlyUrls(input);
  const wanted = rulesOf(input).text('url');
  return Number(Boolean(input.result) && sameUrl(wanted, urlOf(input.result)));
};

/** As `is_expected_active_tab`, without the query, everything else letter by letter. */
const activeTabApproximate: Metric = (input) => {
  onlyUrls(input);
  const wanted = rulesOf(input).text('url');
  const url = urlOf(input.result);
  if (url === null) return 0;
  // Python writes the scheme in small letters, and no mark before an empty fragment.
  const bare = (text: string) =>
    text
      .replace(/\?[^#]*/, '')
      .replace(/#$/, '')
      .replace(/^[a-z][a-z0-9+.-]*:/i, (scheme) => scheme.toLowerCase());
  return Number(bare(url) === bare(wanted));
};

/**
 * `{type: url, urls}`: as many tabs as addresses, each address open in one. With an address twice in the list two other
 * tabs may be open beside it (docs/osworld.md); `strict` wants each address as often as it is listed.
 */
const tabs: Metric = (input) => {
  onlyUrls(input);
  const wanted = rulesOf(input).texts('urls');
  const open = Array.isArray(input.result) ? input.result : [];
  if (open.length === 0) return 0;
  if (wanted.length !== open.length) return 0;
  if (input.fidelity === 'strict') return Number(equal(sortedUrls(wanted), sortedUrls(open)));
  return Number(wanted.every((url) => open.some((tab) => sameUrl(url, urlOf(tab)))));
};

function sortedUrls(list: unknown[]): string[] {
  return list.map((each) => normalUrl(urlOf(each) ?? '')).sort();
}

/** Every pattern of `expected` is found in the address. */
const urlPattern: Metric = (input) => {
  const patterns = rulesOf(input)
    .texts('expected')
    .map((pattern) => pythonPattern(pattern));
  const url = urlOf(input.result);
  return Number(url !== null && url !== '' && patterns.every((pattern) => pattern.test(url)));
};

/** `{expect: {pattern}}`: the pattern is found in the address. */
const searchQuery: Metric = (input) => {
  const rule = new Fields(`expect of ${input.name}`, input.where, rulesOf(input).object('expect'));
  const pattern = pythonPattern(rule.text('pattern'));
  const url = urlOf(input.result);
  return Number(url !== null && url !== '' && pattern.test(url));
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
  const rules = rulesOf(input);
  const type = rules.text('type');
  if (bar === undefined) return 0;
  const children = bar.children ?? [];
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

/** `{type: keywords, keywords}`: none of them is in a visited address. A history that is gone altogether is a 0. */
const historyDeleted: Metric = (input) => {
  const rules = rulesOf(input);
  if (rules.text('type') !== 'keywords') throw rules.wrong('type', '"keywords"');
  const keywords = rules.texts('keywords');
  if (!Array.isArray(input.result)) return 0;
  const urls = input.result.map((row) => String(Array.isArray(row) ? row[0] : row));
  return Number(!keywords.some((keyword) => urls.some((url) => url.includes(keyword))));
};

/** `{type: domains, domains}`: no cookie is of one of them; hosts are compared like addresses. */
const cookieDeleted: Metric = (input) => {
  const rules = rulesOf(input);
  if (rules.text('type') !== 'domains') throw rules.wrong('type', '"domains"');
  const domains = rules.texts('domains');
  if (!Array.isArray(input.result)) return 0;
  const hosts = input.result.map((row) => (Array.isArray(row) ? row[1] : row));
  return Number(!domains.some((domain) => hosts.some((host) => sameUrl(domain, host))));
};

/**
 * `{type: name, name}` or `{type: exec, exec}`: a launcher on the desktop has that line. The one may be part of the
 * other, for a name in any case.
 */
const shortcutOnDesktop: Metric = (input) => {
  const rules = rulesOf(input);
  const type = rules.text('type');
  if (type !== 'name' && type !== 'exec') throw rules.wrong('type', '"name" or "exec"');
  const wanted = rules.text(type);
  const key = type === 'name' ? 'Name=' : 'Exec=';
  const fold = (text: string) => (type === 'name' ? text.toLowerCase() : text);
  const isWanted = (text: string) => fold(text).includes(fold(wanted)) || fold(wanted).includes(fold(text));
  const contents = isRecord(input.result) ? Object.values(input.result).map(String) : [];
  // OSWorld looks for the whole line anywhere first: a GenericName will do then.
  if (contents.some((content) => content.includes(`${key}${wanted}\n`))) return 1;
  const lines = contents.flatMap((content) => content.split('\n')).filter((line) => line.startsWith(key));
  return Number(lines.some((line) => isWanted(line.slice(key.length))));
};

/** Names that the web store has given to one extension in the course of time. */
const SAME_EXTENSION: Record<string, string> = { 'Zoom for Google Chrome': 'Zoom Chrome Extension' };

/** `{expected}`: these extensions are installed, by name. */
const extensionsInstalled: Metric = (input) => {
  if (!Array.isArray(input.result) || input.result.length === 0) return 0;
  const known = (name: unknown) => SAME_EXTENSION[String(name)] ?? String(name);
  const installed = new Set(input.result.map(known));
  return Number(
    rulesOf(input)
      .texts('expected')
      .every((name) => installed.has(known(name))),
  );
};

/** `{type: names, names}`: these experiments are on, in this order, and no others; what they are set to is free. */
const experimentsEnabled: Metric = (input) => {
  const rules = rulesOf(input);
  if (rules.text('type') !== 'names') throw rules.wrong('type', '"names"');
  const names = rules.texts('names');
  if (!Array.isArray(input.result)) return 0;
  return Number(
    equal(
      input.result.map((each) => String(each).split('@')[0]),
      names,
    ),
  );
};

/** `{items}`: each of them is in the HTML of the cart. */
const steamCart: Metric = (input) => {
  const items = rulesOf(input).texts('items');
  const content = isRecord(input.result) ? input.result.content : undefined;
  return Number(typeof content === 'string' && items.every((item) => content.includes(item)));
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
  is_cookie_deleted: cookieDeleted,
  is_shortcut_on_desktop: shortcutOnDesktop,
  is_expected_installed_extensions: extensionsInstalled,
  check_enabled_experiments: experimentsEnabled,
  is_added_to_steam_cart: steamCart,
  check_font_size: fontSize,
};
