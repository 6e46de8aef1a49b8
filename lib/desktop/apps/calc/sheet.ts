import { isObject, parseObject } from '../../files/json_file.ts';
import { parseCsv, printCsv } from './csv.ts';
import {
  type CellValue,
  cellName,
  cellPlace,
  evaluateFormula,
  FormulaError,
  MAX_COLUMNS,
  MAX_ROWS,
} from './formula.ts';

export interface SheetCell {
  content: string;
  bold?: boolean;
  highlight?: boolean;
  percent?: boolean;
}

export type CellMark = 'bold' | 'highlight' | 'percent';

const EMPTY: SheetCell = { content: '' };

/** A grid of cells with formulas. Columns and rows count from 0. */
export class Sheet {
  private cells = new Map<string, SheetCell>();
  private history: Map<string, SheetCell>[] = [];
  private values = new Map<string, CellValue | FormulaError>();

  cell(column: number, row: number): SheetCell {
    return this.cells.get(cellName(column, row)) ?? EMPTY;
  }

  /** Runs a change as one undoable step. */
  change(edit: () => void): void {
    this.history.push(new Map(this.cells));
    if (this.history.length > 30) this.history.shift();
    edit();
    this.values.clear();
  }

  undo(): void {
    this.cells = this.history.pop() ?? this.cells;
    this.values.clear();
  }

  setContent(column: number, row: number, content: string): void {
    this.put(column, row, { ...this.cell(column, row), content });
  }

  setMark(column: number, row: number, mark: CellMark, on: boolean): void {
    this.put(column, row, { ...this.cell(column, row), [mark]: on });
  }

  /** What the cell shows. */
  shown(column: number, row: number): string {
    const { percent } = this.cell(column, row);
    const value = this.value(column, row);
    if (value instanceof FormulaError) return '#ERR';
    if (value === null) return '';
    if (typeof value === 'string') return value;
    return percent ? `${rounded(value * 100)}%` : rounded(value);
  }

  /** How many rows and columns hold something. */
  extent(): { rows: number; columns: number } {
    let rows = 0;
    let columns = 0;
    for (const [name, cell] of this.cells) {
      const place = cellPlace(name);
      if (!place || cell.content === '') continue;
      rows = Math.max(rows, place.row + 1);
      columns = Math.max(columns, place.column + 1);
    }
    return { rows, columns };
  }

  deleteRow(row: number): void {
    this.moveCells((c, r) => (r === row ? null : [c, r > row ? r - 1 : r]));
  }

  insertRow(row: number): void {
    this.moveCells((c, r) => [c, r >= row ? r + 1 : r]);
  }

  deleteColumn(column: number): void {
    this.moveCells((c, r) => (c === column ? null : [c > column ? c - 1 : c, r]));
  }

  /** Sorts the rows by a column; a heading row stays (docs/desktop.md, Calc). */
  sort(column: number, descending: boolean): void {
    const { rows } = this.extent();
    const first = this.hasHeading() ? 1 : 0;
    const order = Array.from({ length: Math.max(0, rows - first) }, (_, i) => i + first);
    order.sort((a, b) => compareValues(this.plain(column, a), this.plain(column, b), descending));
    const goal = new Map(order.map((from, index) => [from, index + first]));
    this.moveCells((c, r) => [c, goal.get(r) ?? r]);
  }

  loadCsv(text: string): void {
    this.clear();
    parseCsv(text)
      .slice(0, MAX_ROWS)
      .forEach((fields, row) => {
        fields.slice(0, MAX_COLUMNS).forEach((content, column) => {
          this.setContent(column, row, content);
        });
      });
  }

  /** Shown values; trailing empty cells and rows are left out. */
  toCsv(): string {
    const { rows, columns } = this.extent();
    const table = Array.from({ length: rows }, (_, row) => {
      const fields = Array.from({ length: columns }, (_unused, column) => this.shown(column, row));
      while (fields.length > 1 && fields.at(-1) === '') fields.pop();
      return fields;
    });
    return printCsv(table);
  }

  loadJson(text: string): void {
    this.clear();
    const { cells } = parseObject(text);
    if (!isObject(cells)) return;
    for (const [name, value] of Object.entries(cells)) {
      const place = cellPlace(name);
      if (!place || !isObject(value)) continue;
      const { content, bold, highlight, percent } = value;
      const marks = { bold: bold === true, highlight: highlight === true, percent: percent === true };
      this.put(place.column, place.row, { content: String(content ?? ''), ...marks });
    }
  }

  toJson(): string {
    const cells: Record<string, unknown> = {};
    for (const name of [...this.cells.keys()].sort()) {
      const cell = this.cells.get(name);
      const place = cellPlace(name);
      if (!cell || !place) continue;
      const marks = Object.fromEntries(
        (['bold', 'highlight', 'percent'] as const).filter((m) => cell[m]).map((m) => [m, true]),
      );
      cells[name] = { content: cell.content, value: this.shown(place.column, place.row), ...marks };
    }
    return `${JSON.stringify({ cells })}\n`;
  }

  clear(): void {
    this.cells = new Map();
    this.history = [];
    this.values.clear();
  }

  private put(column: number, row: number, cell: SheetCell): void {
    if (column < 0 || column >= MAX_COLUMNS || row < 0 || row >= MAX_ROWS) return;
    const name = cellName(column, row);
    if (cell.content === '' && !cell.bold && !cell.highlight && !cell.percent) this.cells.delete(name);
    else this.cells.set(name, cell);
    this.values.clear();
  }

  private moveCells(goal: (column: number, row: number) => [number, number] | null): void {
    const before = this.cells;
    this.cells = new Map();
    for (const [name, cell] of before) {
      const place = cellPlace(name);
      const to = place && goal(place.column, place.row);
      if (to) this.put(to[0], to[1], cell);
    }
  }

  private value(column: number, row: number): CellValue | FormulaError {
    const name = cellName(column, row);
    const known = this.values.get(name);
    if (known !== undefined) return known;
    const { content } = this.cell(column, row);
    // While it is being worked out, a cell that needs itself is an error.
    this.values.set(name, new FormulaError('circular'));
    const value = content.startsWith('=') ? this.evaluate(content.slice(1)) : literal(content);
    this.values.set(name, value);
    return value;
  }

  private evaluate(source: string): number | FormulaError {
    try {
      return evaluateFormula(source, (column, row) => {
        const value = this.value(column, row);
        if (value instanceof FormulaError) throw value;
        return value;
      });
    } catch (error) {
      if (error instanceof FormulaError) return error;
      throw error;
    }
  }

  private plain(column: number, row: number): CellValue {
    const value = this.value(column, row);
    return value instanceof FormulaError ? null : value;
  }

  private hasHeading(): boolean {
    const { columns } = this.extent();
    return Array.from({ length: columns }, (_, c) => c).some(
      (c) => typeof this.plain(c, 0) === 'string' && typeof this.plain(c, 1) === 'number',
    );
  }
}

function literal(content: string): CellValue {
  const text = content.trim();
  if (text === '') return null;
  return /^-?(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : content;
}

function rounded(value: number): string {
  return String(Number(value.toFixed(4)));
}

/** Numbers before texts, empty cells last whatever the direction. */
function compareValues(a: CellValue, b: CellValue, descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const direction = descending ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return (a - b) * direction;
  if (typeof a !== typeof b) return (typeof a === 'number' ? -1 : 1) * direction;
  return (a < b ? -1 : a > b ? 1 : 0) * direction;
}
