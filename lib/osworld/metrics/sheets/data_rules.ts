import type { FetchedFile } from '../../context.ts';
import { Fields } from '../../fields.ts';
import { cellsIn, nameOf, rangesOf } from '../../formats/xlsx/ranges.ts';
import { equal } from '../../rules.ts';
import { textRatio } from '../../similarity.ts';
import type { Books, Target } from './books.ts';
import { printedLines } from './csv.ts';
import { type Frame, frameOf, framesEqual } from './frame.ts';
import { type PythonValue, showFloat, stripEnd, stripStart } from './python.ts';
import { RawReader, type RawValue } from './raw_cell.ts';

/** The rules that compare what stands in cells. */
export const dataRules = {
  sheet_name: (_: Fields, books: Books) => equal(...books.names()),
  sheet_data: sheetData,
  sheet_print: sheetPrint,
  sheet_fuzzy: sheetFuzzy,
};

/** `{sheet_idx0, sheet_idx1, precision?}`: the two sheets are equal frames. OSWorld knows no `ignore_case` here. */
function sheetData(rule: Fields, books: Books): boolean {
  const isFolded = books.isStrict && rule.flag('ignore_case');
  const frames = bothTargets(rule, books).map((target) => {
    const sheet = books.sheet(target);
    if (sheet === null) return null;
    const frame = books.read(target, () => frameOf(sheet.rows));
    return isFolded ? foldedFrame(frame) : frame;
  });
  const [first, second] = frames;
  return first != null && second != null && framesEqual(first, second, rule.number('precision', 4));
}

function foldedFrame({ names, columns, length }: Frame): Frame {
  const fold = (value: PythonValue) => (typeof value === 'string' ? value.toLowerCase() : value);
  const folded = columns.map(({ type, values }) => ({ type, values: values.map(fold) }));
  return { names: names.map(fold), columns: folded, length };
}

/** `{sheet_idx0, sheet_idx1, ignore_case?}`: the CSV exports beside the workbooks have the same lines. */
function sheetPrint(rule: Fields, books: Books): boolean {
  const [first, second] = bothTargets(rule, books).map((target) => printed(target, books));
  if (first == null || second == null) return false;
  const fold = (lines: string[]) => (rule.flag('ignore_case') ? lines.map((line) => line.toLowerCase()) : lines);
  return equal(fold(first), fold(second));
}

function printed({ book, name }: Target, books: Books): string[] | null {
  const csvName = `${book.file.name.replace(/(?<=[^/])\.[^./]*$/, '')}-${name}.csv`;
  const csv: FetchedFile | undefined = book.file.beside?.find((file) => file.name === csvName);
  if (csv !== undefined) return printedLines(csv.bytes);
  if (book.isResult) return null;
  throw books.error(`there is no ${csvName} beside the expected file`);
}

/** `{sheet_idx0, sheet_idx1, rules: [{range, type, …}]}`: texts of cells, cleaned and compared one by one. */
function sheetFuzzy(rule: Fields, books: Books): boolean {
  const [first, second] = bothTargets(rule, books).map((target) => {
    books.sheet(target);
    const reader = new RawReader(target.book.workbook, books.isStrict);
    return (cell: string) => showRaw(books.read(target, () => reader.value(target.name, cell)));
  });
  return rule.list('rules').every((item) => {
    const fuzzy = new Fields(`${rule.owner} sheet_fuzzy`, rule.where, item);
    const clean = cleaner(fuzzy);
    const match = matcher(fuzzy);
    const cells = rangesOf(fuzzy.texts('range').join(' ')).flatMap((range) => [...cellsIn(range)].map(nameOf));
    return cells.map((cell) => match(clean(first!(cell)), clean(second!(cell)))).every(Boolean);
  });
}

function showRaw(value: RawValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'number' ? showFloat(value) : value;
}

function cleaner(rule: Fields): (text: string) => string {
  const replacements = rule.list('normalization', []) as [string, string][];
  const ignored = new Set(rule.text('ignore_chars', ''));
  return (text) => {
    let clean = replacements.reduce((at, [from, to]) => at.replaceAll(from, () => to), text);
    clean = stripStart(clean, rule.text('trim_leadings', ''));
    clean = stripEnd(clean, rule.text('trim_trailings', ''));
    clean = [...clean].filter((letter) => !ignored.has(letter)).join('');
    return rule.flag('ignore_case') ? clean.toLowerCase() : clean;
  };
}

function matcher(rule: Fields): (result: string, expected: string) => boolean {
  const type = rule.text('type');
  const threshold = rule.number('threshold', 85);
  if (type === 'includes') return (result, expected) => result.includes(expected);
  if (type === 'included_by') return (result, expected) => expected.includes(result);
  if (type === 'fuzzy_match') return (result, expected) => textRatio(result, expected) * 100 >= threshold;
  if (type === 'exact_match') return (result, expected) => result === expected;
  throw rule.wrong('type', 'includes, included_by, fuzzy_match or exact_match');
}

/** The sheets of `sheet_idx0` and `sheet_idx1`. */
export function bothTargets(rule: Fields, books: Books): [Target, Target] {
  return [books.target(rule.values.sheet_idx0, 'sheet_idx0'), books.target(rule.values.sheet_idx1, 'sheet_idx1')];
}
