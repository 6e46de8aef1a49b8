import { type Moment, momentOf, momentOfIso } from './dates.ts';
import { columnLetters, positionOf } from './ranges.ts';
import type { CellStyle, Styles } from './styles.ts';
import { child, type XmlNode } from './tree.ts';

/** Whole numbers that a double cannot hold are bigints. */
export type CellValue = number | bigint | string | boolean | Moment | null;

export interface Cell {
  row: number;
  column: number;
  /** What stands in the cell, for a formula the result that was stored with it. */
  value: CellValue;
  isError: boolean;
  /** `=…` as it is written; null where the cell has none. */
  formula: string | null;
  style: CellStyle;
}

/** Rows of cells in their order; a row that the sheet leaves out is missing. */
export interface CellRow {
  row: number;
  cells: Cell[];
}

export interface CellSource {
  strings: string[];
  styles: Styles;
  is1904: boolean;
}

/** The cells of a `worksheet` element. Throws an Error where one of them makes no sense. */
export function readCells(worksheet: XmlNode, source: CellSource): CellRow[] {
  let row = 0;
  return (child(worksheet, 'sheetData')?.children ?? [])
    .filter((element) => element.name === 'row')
    .map((element) => {
      row = element.attributes.r === undefined ? row + 1 : Number(element.attributes.r);
      if (!Number.isInteger(row)) throw new Error(`${element.attributes.r} is not a row`);
      let column = 0;
      const cells = element.children.map((item) => {
        const at = item.attributes.r === undefined ? { row, column: column + 1 } : positionOf(item.attributes.r);
        column = at.column;
        return readCell(item, at, source);
      });
      return { row, cells };
    });
}

function readCell(element: XmlNode, at: { row: number; column: number }, source: CellSource): Cell {
  const style = source.styles.cells[Number(element.attributes.s ?? 0)];
  if (style === undefined) throw new Error(`a cell has the unknown style ${element.attributes.s}`);
  const formula = child(element, 'f');
  const { value, isError } = readValue(element, style, source);
  return { ...at, value, isError, formula: formula === undefined ? null : `=${formula.text}`, style };
}

function readValue(
  element: XmlNode,
  style: CellStyle,
  { strings, is1904 }: CellSource,
): { value: CellValue; isError: boolean } {
  const type = element.attributes.t ?? 'n';
  const plain = (value: CellValue) => ({ value, isError: false });
  const inline = child(element, 'is');
  if (type === 'inlineStr') return plain(inline === undefined ? null : richText(inline));
  const text = child(element, 'v')?.text ?? '';
  if (text === '') return { value: null, isError: type === 'e' };
  if (type === 's') return plain(sharedString(strings, text));
  if (type === 'b') return plain(Number(text) !== 0);
  if (type === 'e') return { value: text, isError: true };
  if (type === 'd') return plain(momentOfIso(text));
  if (type !== 'n') return plain(text);
  const number = numberOf(text);
  if (!style.isDate) return plain(number);
  const moment = momentOf(Number(number), is1904, style.isSpan);
  return moment === null ? { value: '#VALUE!', isError: true } : plain(moment);
}

function sharedString(strings: string[], index: string): string {
  const text = strings[Number(index)];
  if (text === undefined) throw new Error(`a cell has the unknown text ${index}`);
  return text;
}

function numberOf(text: string): number | bigint {
  const number = Number(text);
  if (Number.isNaN(number)) throw new Error(`${JSON.stringify(text)} is not a number`);
  return Number.isSafeInteger(number) || !/^\s*[+-]?\d+\s*$/.test(text) ? number : BigInt(text.trim());
}

/** The text of a string element: its own and that of its runs, phonetic hints left out. */
export function richText(element: XmlNode): string {
  const runs = element.children.filter(({ name }) => name === 'r');
  return [element, ...runs].map((part) => child(part, 't')?.text ?? '').join('');
}

/** Properties of rows and columns, by number or letters, of those that the sheet says anything about. */
export function readRows(worksheet: XmlNode): Map<string, Record<string, string>> {
  let row = 0;
  const rows = new Map<string, Record<string, string>>();
  for (const { name, attributes } of child(worksheet, 'sheetData')?.children ?? []) {
    if (name !== 'row') continue;
    row = attributes.r === undefined ? row + 1 : Number(attributes.r);
    if (Object.keys(attributes).some((key) => !['r', 'spans'].includes(key) && !key.includes(':'))) {
      rows.set(String(row), attributes);
    }
  }
  return rows;
}

/** As `readRows`, for the `col` elements; each is known by its first column. */
export function readColumns(worksheet: XmlNode): Map<string, Record<string, string>> {
  const columns = child(worksheet, 'cols')?.children ?? [];
  return new Map(columns.map(({ attributes }) => [columnLetters(Number(attributes.min)), attributes]));
}
