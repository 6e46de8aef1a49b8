import type { Fields } from '../fields.ts';
import type { Metric } from '../kinds.ts';
import { equal, isRecord, pythonPattern } from '../rules.ts';
import { decode, expectedFiles, linesOf, resultText, rulesOf, rulesWith } from './input.ts';

/** 1 when the files are equal; options `ignore_blanks` (runs of blanks and line ends are one blank), `ignore_case`. */
const compareTextFile: Metric = (input) => {
  const text = resultText(input);
  if (text === null) return 0;
  const fold = (value: string): string => {
    const plain = input.options.flag('ignore_blanks')
      ? value
          .replace(/[\t\n]/g, ' ')
          .trim()
          .replace(/\s+/g, ' ')
      : value;
    return input.options.flag('ignore_case') ? plain.toLowerCase() : plain;
  };
  return Number(fold(text) === fold(decode(expectedFiles(input)[0]!)));
};

/** 1 when the file holds every text of `expected`. */
const fileContains: Metric = (input) => {
  const parts = rulesOf(input).texts('expected');
  const text = resultText(input);
  return Number(text !== null && parts.every((part) => text.includes(part)));
};

/** Patterns by line: each of `expect` is found in some line, none of `unexpect` in any. */
const checkList: Metric = (input) => {
  const rules = rulesWith(input, 'expect', 'unexpect');
  const text = resultText(input);
  if (text === null) return 0;
  const lines = linesOf(text);
  const isFound = (pattern: string) => lines.some((line) => pythonPattern(pattern).test(line));
  return Number(rules.texts('expect', []).every(isFound) && !rules.texts('unexpect', []).some(isFound));
};

/** Records of a CSV file with a heading: each of `expect` matches one, none of `unexpect` any. */
const checkCsv: Metric = (input) => {
  const rules = rulesWith(input, 'expect', 'unexpect');
  const text = resultText(input);
  if (text === null) return 0;
  const records = csvRecords(text);
  return Number(
    patternsIn(rules, 'expect').every((pattern) => records.some((record) => matchesRecord(pattern, record))) &&
      !patternsIn(rules, 'unexpect').some((pattern) => records.some((record) => matchesRecord(pattern, record))),
  );
};

/** The list of that name, of objects; a rule that has none is empty. */
export function patternsIn(rules: Fields, name: string): Record<string, unknown>[] {
  const patterns = rules.list(name, []);
  if (!patterns.every(isRecord)) throw rules.wrong(name, 'a list of objects');
  return patterns;
}

/** True where every field of the pattern is in the record with the same value. */
export function matchesRecord(pattern: Record<string, unknown>, record: Record<string, unknown>): boolean {
  return Object.entries(pattern).every(([key, value]) => key in record && equal(record[key], value));
}

function csvRecords(text: string): Record<string, string>[] {
  const [head, ...rows] = csvRows(text);
  return rows.map((row) => Object.fromEntries((head ?? []).map((name, column) => [name, row[column] ?? ''])));
}

/** Rows of RFC 4180 text: quoted fields may hold commas, quotes (doubled) and line ends. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
    if (end === '' && quoted === undefined && bare === '' && row.length === 0) break;
    row.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === ',') continue;
    rows.push(row);
    row = [];
    if (end === '') break;
  }
  return rows;
}

export const fileMetrics: Record<string, Metric> = {
  compare_text_file: compareTextFile,
  file_contains: fileContains,
  check_list: checkList,
  check_csv: checkCsv,
};
