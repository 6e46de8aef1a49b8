import { Fields } from '../fields.ts';
import type { Metric } from '../kinds.ts';
import { matchesRule } from '../rules.ts';
import { matchesRecord, patternsIn } from './files.ts';
import { linesOf, resultText, rulesWith } from './input.ts';

/** Rules `{preference: {method, ref}}` on a Mozilla `prefs.js`: all of `expect` hold, none of `unexpect`. */
const thunderbirdPrefs: Metric = (input) => {
  const rules = rulesWith(input, 'expect', 'unexpect');
  const text = resultText(input);
  if (text === null) return 0;
  const preferences = readPreferences(text);
  const holds = ([key, rule]: [string, unknown]) =>
    preferences.has(key) && matchesRule(preferences.get(key), rule, input.name, input.where);
  const expected = Object.entries(rules.object('expect', {}));
  const unexpected = Object.entries(rules.object('unexpect', {}));
  return Number(expected.every(holds) && !unexpected.some(holds));
};

/** The values of `user_pref("key", value);` lines; lines that are something else are left out. */
function readPreferences(text: string): Map<string, unknown> {
  const preferences = new Map<string, unknown>();
  for (const line of linesOf(text)) {
    const match = /^user_pref\("((?:[^"\\]|\\.)+)", (.+)\);\s*$/.exec(line);
    if (match === null) continue;
    try {
      preferences.set(match[1]!, JSON.parse(match[2]!));
    } catch {
      // A value that is not JSON cannot meet a rule.
    }
  }
  return preferences;
}

/** Records of `msgFilterRules.dat`: each of `expect` is there, none of `unexpect`. */
const thunderbirdFilter: Metric = (input) => {
  const rules = rulesWith(input, 'expect', 'unexpect');
  const text = resultText(input);
  if (text === null) return 0;
  const filters = readFilters(text);
  const isThere = (pattern: Record<string, unknown>) => filters.some((filter) => matchesRecord(pattern, filter));
  return Number(patternsIn(rules, 'expect').every(isThere) && !patternsIn(rules, 'unexpect').some(isThere));
};

/** Parts of a filter's condition: `AND (subject,contains,"a b")`, `ALL`. */
const CONDITION = /\b(?:AND|OR) \([\p{L}\p{N}_ ]+,[\p{L}\p{N}_ ']+,(?:".+"|[^)]+)\)|\bALL\b/gu;

/** A filter starts with its `name` and ends with its `condition`, which becomes the list of its parts. */
function readFilters(text: string): Record<string, unknown>[] {
  const filters: Record<string, unknown>[] = [];
  let filter: Record<string, unknown> = {};
  for (const line of linesOf(text)) {
    const [, key, source] = /^(\w+)="(.*)"\s*$/.exec(line) ?? [];
    if (key === undefined || source === undefined) continue;
    const value = source.replaceAll('\\"', '"').replaceAll('\\\\', '\\');
    if (key === 'name') filter = {};
    filter[key] = key === 'condition' ? (value.match(CONDITION) ?? []) : value;
    if (key === 'condition') filters.push(filter);
  }
  return filters;
}

interface Mail {
  from: string;
  to: string;
  subject: string;
  body: string;
  read: boolean;
  starred: boolean;
}

/**
 * Our own metric for mbox folders. Rules `expect`, `unexpect`: lists of `{from?, to?, subject?, body?, read?, starred?}`;
 * each of `expect` is there and none of `unexpect`; texts must be a part of the mail's, flags be equal. `count`: how many
 * mails the folder holds. A missing folder is an empty one.
 */
const mailbox: Metric = (input) => {
  const rules = rulesWith(input, 'expect', 'unexpect', 'count');
  const mails = readMailbox(resultText(input) ?? '');
  const isThere = (pattern: unknown) =>
    mails.some((mail) => isMail(mail, new Fields(`a rule of ${input.name}`, input.where, pattern)));
  const hasCount = !rules.has('count') || rules.number('count') === mails.length;
  return Number(hasCount && rules.list('expect', []).every(isThere) && !rules.list('unexpect', []).some(isThere));
};

function isMail(mail: Mail, pattern: Fields): boolean {
  return Object.entries(pattern.values).every(([field, wanted]) => {
    const value = mail[field as keyof Mail];
    if (value === undefined) throw pattern.wrong(field, 'left out: mails have no such field');
    return typeof value === 'boolean' ? value === wanted : value.includes(String(wanted));
  });
}

/** Mails of an mbox; the bits of `X-Mozilla-Status` are 1 read and 4 starred. */
function readMailbox(text: string): Mail[] {
  return text
    .split(/^From .*\n/m)
    .slice(1)
    .map((mail) => {
      const end = mail.indexOf('\n\n');
      const head = end < 0 ? mail : mail.slice(0, end);
      const header = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'mi').exec(head)?.[1] ?? '';
      const status = Number.parseInt(header('X-Mozilla-Status') || '0', 16);
      return {
        from: header('From'),
        to: header('To'),
        subject: header('Subject'),
        body: end < 0 ? '' : mail.slice(end + 2),
        read: (status & 1) !== 0,
        starred: (status & 4) !== 0,
      };
    });
}

export const mailMetrics: Record<string, Metric> = {
  check_thunderbird_prefs: thunderbirdPrefs,
  check_thunderbird_filter: thunderbirdFilter,
  check_mailbox: mailbox,
};
