import { Field } from '../../ui/field.ts';
import type { Clipboard, TextTarget } from '../../ui/widget.ts';
import { clampScroll } from '../app.ts';
import { MAX_ROWS } from './formula.ts';
import { type CellMark, Sheet } from './sheet.ts';

/** Columns and rows of a sheet that are shown at a time. */
export const SHOWN_COLUMNS = 4;
export const SHOWN_ROWS = 8;

export type Span = 'cell' | 'row' | 'column';

const STEPS: Record<string, [number, number]> = {
  enter: [0, 1],
  tab: [1, 0],
  down: [0, 1],
  up: [0, -1],
  left: [-1, 0],
  right: [1, 0],
};

/** The selection in a sheet and the edit of a cell: what typing and keys do to a spreadsheet. */
export class CalcGrid implements TextTarget {
  readonly sheet = new Sheet();
  column = 0;
  row = 0;
  span: Span = 'cell';
  /** First row that is shown. */
  offset = 0;
  /** The edit inside a cell; null while none is going on. */
  edit: Field | null = null;

  reset(): void {
    this.edit = null;
    this.offset = 0;
    this.select(0, 0);
  }

  get content(): string {
    return this.sheet.cell(this.column, this.row).content;
  }

  /** Ends the edit, then selects a cell, row or column. */
  select(column: number, row: number, span: Span = 'cell'): void {
    this.commit();
    this.span = span;
    this.column = Math.max(0, Math.min(SHOWN_COLUMNS - 1, column));
    this.row = Math.max(0, Math.min(MAX_ROWS - 1, row));
    if (span !== 'cell') return;
    this.offset = Math.max(Math.min(this.offset, this.row), this.row - SHOWN_ROWS + 1);
  }

  isSelected(column: number, row: number): boolean {
    if (this.span === 'row') return row === this.row;
    if (this.span === 'column') return column === this.column;
    return column === this.column && row === this.row;
  }

  startEdit(column: number, row: number): void {
    this.select(column, row);
    this.edit = new Field(this.content);
  }

  /** Puts what was typed into the cell. */
  commit(): void {
    if (!this.edit) return;
    const { text } = this.edit;
    this.edit = null;
    this.setContent(text);
  }

  setContent(content: string): void {
    if (content === this.content) return;
    this.sheet.change(() => this.sheet.setContent(this.column, this.row, content));
  }

  alter(change: () => void): void {
    this.commit();
    this.sheet.change(change);
  }

  undo(): void {
    if (this.edit) this.edit = null;
    else this.sheet.undo();
  }

  clear(): void {
    this.edit = null;
    this.sheet.change(() => {
      for (const [column, row] of this.selectedCells()) this.sheet.setContent(column, row, '');
    });
  }

  toggle(mark: CellMark): void {
    this.commit();
    const cells = this.selectedCells();
    const on = !cells.every(([column, row]) => this.sheet.cell(column, row)[mark]);
    this.sheet.change(() => {
      for (const [column, row] of cells) this.sheet.setMark(column, row, mark, on);
    });
  }

  scroll(rows: number): void {
    this.offset = clampScroll(this.offset + rows, MAX_ROWS, SHOWN_ROWS);
  }

  insert(text: string): void {
    this.edit ??= new Field();
    this.edit.insert(text);
  }

  key(combo: string, clipboard: Clipboard): boolean {
    const step = STEPS[combo];
    if (step) {
      this.select(this.column + step[0], this.row + step[1]);
      return true;
    }
    if (!this.edit) return this.idleKey(combo, clipboard);
    if (combo !== 'esc') return this.edit.key(combo, clipboard);
    this.edit = null;
    return true;
  }

  private idleKey(combo: string, clipboard: Clipboard): boolean {
    if (combo === 'delete' || combo === 'backspace') this.clear();
    else if (combo === 'f2') this.startEdit(this.column, this.row);
    else if (combo === 'ctrl+c' || combo === 'ctrl+x') {
      clipboard.text = this.content;
      if (combo === 'ctrl+x') this.clear();
    } else if (combo === 'ctrl+v') this.setContent(clipboard.text.replaceAll('\n', ' '));
    else if (combo === 'ctrl+z') this.undo();
    else return false;
    return true;
  }

  private selectedCells(): [number, number][] {
    if (this.span === 'cell') return [[this.column, this.row]];
    const { rows, columns } = this.sheet.extent();
    if (this.span === 'row') return Array.from({ length: columns }, (_, c): [number, number] => [c, this.row]);
    return Array.from({ length: rows }, (_, r): [number, number] => [this.column, r]);
  }
}
