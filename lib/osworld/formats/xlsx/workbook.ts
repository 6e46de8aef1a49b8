import { OfficePackage } from './package.ts';
import { cellsIn, nameOf, rangeOf, sizeOf } from './ranges.ts';
import { type Cell, type CellRow, readCells, richText } from './sheet.ts';
import { readStyles, type Styles } from './styles.ts';
import { child, children, flagOf, type XmlNode } from './tree.ts';

/** Cells that one merged range may cover: it is written out cell by cell. */
const MAX_MERGED = 1_000_000;

/** A spreadsheet file of Excel's format (ECMA-376), as far as its evaluators look. */
export class Workbook {
  readonly parts: OfficePackage;
  /** Path of `workbook.xml`. */
  readonly path: string;
  readonly root: XmlNode;
  readonly styles: Styles;
  readonly sheets: Worksheet[];

  /** Throws an Error where the bytes are no such file, or one of its sheets cannot be read. */
  constructor(bytes: Uint8Array) {
    this.parts = new OfficePackage(bytes);
    const main = this.parts.relationships('').find(({ kind }) => kind === 'officeDocument');
    this.path = main?.target ?? 'xl/workbook.xml';
    this.root = this.parts.part(this.path);
    this.styles = readStyles(this.parts);
    const related = this.parts.relationships(this.path);
    const strings = readStrings(this.parts, related.find(({ kind }) => kind === 'sharedStrings')?.target);
    const is1904 = flagOf(child(this.root, 'workbookPr')?.attributes.date1904, false);
    this.sheets = children(child(this.root, 'sheets'), 'sheet').flatMap(({ attributes }) => {
      const part = related.find(({ id }) => id === attributes['r:id']);
      if (part === undefined || part.kind !== 'worksheet' || !this.parts.has(part.target)) return [];
      const source = { strings, styles: this.styles, is1904 };
      const root = this.parts.part(part.target);
      return [new Worksheet(attributes.name ?? '', part.target, root, readCells(root, source))];
    });
  }

  /** The sheet that a click on the file shows first. */
  get active(): Worksheet | undefined {
    const index = Number(child(child(this.root, 'bookViews'), 'workbookView')?.attributes.activeTab ?? 0);
    return this.sheets[index] ?? this.sheets[0];
  }

  sheet(name: string): Worksheet | undefined {
    return this.sheets.find((sheet) => sheet.name === name);
  }
}

/** One sheet of cells. */
export class Worksheet {
  readonly name: string;
  readonly path: string;
  readonly root: XmlNode;
  readonly rows: CellRow[];
  private readonly byName: Map<string, Cell>;
  /** Cells that a merged range covers, all but its first. */
  readonly covered: ReadonlySet<string>;
  /** The last row and column that hold a cell, empty ones and merged ones included. */
  readonly lastRow: number;
  readonly lastColumn: number;

  constructor(name: string, path: string, root: XmlNode, rows: CellRow[]) {
    this.name = name;
    this.path = path;
    this.root = root;
    this.rows = rows;
    this.byName = new Map(rows.flatMap(({ cells }) => cells.map((cell) => [nameOf(cell), cell])));
    const merged = children(child(root, 'mergeCells'), 'mergeCell').map((cell) => rangeOf(cell.attributes.ref ?? ''));
    if (merged.some((range) => sizeOf(range) > MAX_MERGED)) throw new Error('a merged range is too large');
    this.covered = new Set(merged.flatMap((range) => [...cellsIn(range)].slice(1).map(nameOf)));
    const corners = [
      ...rows.flatMap((row) => row.cells),
      ...merged.map(({ bottom, right }) => ({ row: bottom, column: right })),
    ];
    this.lastRow = corners.reduce((last, { row }) => Math.max(last, row), 0);
    this.lastColumn = corners.reduce((last, { column }) => Math.max(last, column), 0);
  }

  /** The cell of that name; undefined where the sheet has none, or a merged range covers it. */
  cell(name: string): Cell | undefined {
    return this.covered.has(name) ? undefined : this.byName.get(name);
  }
}

function readStrings(parts: OfficePackage, path: string | undefined): string[] {
  const root = path === undefined ? undefined : parts.tree(path);
  // `_x005F_` stands for an underscore; OSWorld's reader takes out what it sees of it.
  return children(root, 'si').map((item) => richText(item).replaceAll('x005F_', ''));
}
