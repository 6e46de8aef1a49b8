import { child, children, descend, descendants, type XmlNode } from '../../formats/xlsx/tree.ts';
import type { Workbook } from '../../formats/xlsx/workbook.ts';
import { strip } from './python.ts';

export type RawValue = number | string | boolean | null;

/** Reads single cells as OSWorld does for printed values and conditions: past the workbook's own reader. */
export class RawReader {
  private readonly workbook: Workbook;
  private readonly isStrict: boolean;
  private readonly cells = new Map<string, Map<string, XmlNode>>();
  private strings: string[] | null = null;

  constructor(workbook: Workbook, isStrict: boolean) {
    this.workbook = workbook;
    this.isStrict = isStrict;
  }

  /**
   * The value of a cell: a number, a text (an error's name too), null where there is none.
   * OSWorld takes `sheet<sheetId>.xml` for the sheet, whatever part it really is; finds no truth values; takes the
   * blanks off the ends of formula results; and loses every shared text when one of them is empty. `strict` does not.
   * Throws an Error where OSWorld does.
   */
  value(sheet: string, coordinate: string): RawValue {
    const cell = this.cellsOf(sheet).get(coordinate);
    if (cell === undefined) return null;
    const type = cell.attributes.t ?? 'n';
    const element = child(cell, 'v');
    const text = element && (this.isStrict ? element.text : strip(element.text));
    if (type === 'inlineStr') return this.inlineText(child(cell, 'is'));
    if (element === undefined || text === undefined) return null;
    if (type === 'b') return this.isStrict ? text !== '0' : null;
    if (type === 'n') return numberOf(text);
    if (type === 's') return this.shared(text);
    if (type !== 'str' && type !== 'e') return null;
    return text === '' ? null : text;
  }

  private cellsOf(sheet: string): Map<string, XmlNode> {
    const known = this.cells.get(sheet);
    if (known !== undefined) return known;
    const root = this.workbook.parts.tree(this.pathOf(sheet));
    const rows = children(child(root, 'sheetData'), 'row');
    const cells = new Map<string, XmlNode>();
    for (const cell of rows.flatMap((row) => children(row, 'c'))) {
      const name = cell.attributes.r ?? '';
      if (!cells.has(name)) cells.set(name, cell);
    }
    this.cells.set(sheet, cells);
    return cells;
  }

  private pathOf(name: string): string {
    if (this.isStrict) return this.workbook.sheet(name)?.path ?? '';
    return rawPathOf(this.workbook, name) ?? '';
  }

  private shared(index: string): string {
    this.strings ??= sharedTexts(this.workbook, this.isStrict);
    const text = this.strings.at(Number(index));
    if (text === undefined) throw new Error(`a cell has the unknown text ${index}`);
    return text;
  }

  private inlineText(element: XmlNode | undefined): RawValue {
    if (this.isStrict)
      return element === undefined
        ? null
        : descendants(element, 't')
            .map(({ text }) => text)
            .join('');
    const text = child(element, 't');
    if (text === undefined) return null;
    const plain = strip(text.text);
    if (text.attributes['xml:space'] === undefined) return plain === '' ? null : plain;
    // OSWorld gets a dictionary here, and compares it as text.
    const marks = "'@http://www.w3.org/XML/1998/namespace:space': 'preserve'";
    return plain === '' ? `{${marks}}` : `{${marks}, '#text': ${quoted(plain)}}`;
  }
}

/** Where OSWorld looks for a sheet; undefined where the workbook has none of that name. */
export function rawPathOf(workbook: Workbook, name: string): string | undefined {
  const sheets = children(descend(workbook.root, 'sheets'), 'sheet');
  const sheet = sheets.findLast(({ attributes }) => attributes.name === name);
  return sheet && `xl/worksheets/sheet${sheet.attributes.sheetId}.xml`;
}

function numberOf(text: string): number | null {
  if (text === '') throw new Error('a cell has an empty number');
  return Number.isNaN(Number(text)) ? null : Number(text);
}

function sharedTexts(workbook: Workbook, isStrict: boolean): string[] {
  const items = children(workbook.parts.tree('xl/sharedStrings.xml'), 'si').map((item) => descendants(item, 't'));
  if (!isStrict && items.some((texts) => texts.some(({ text }) => text === ''))) return [];
  return items.map((texts) => texts.map(({ text }) => text).join(''));
}

/** A text as Python's `repr` shows it. */
function quoted(text: string): string {
  const body = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return text.includes("'") && !text.includes('"') ? `"${body}"` : `'${body.replaceAll("'", "\\'")}'`;
}
