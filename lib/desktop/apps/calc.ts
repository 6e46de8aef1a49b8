import { App, clampScroll } from '../app.ts';
import { DECO } from '../cells.ts';
import { Field } from '../field.ts';
import { cellName, MAX_ROWS } from '../formula.ts';
import { C } from '../palette.ts';
import { askSaveAs, dropFocus } from '../save_dialog.ts';
import { type CellMark, Sheet } from '../sheet.ts';
import type { Ui } from '../ui.ts';
import { extensionOf, nameOf, resolvePath } from '../vfs.ts';
import type { Clipboard, MenuItem, TextTarget } from '../widget.ts';

const COLUMNS = 4;
const ROWS = 8;
/** Cells of the screen that one column takes. */
const WIDE = 3;

/** The spreadsheet. */
export class CalcApp extends App implements TextTarget {
  private path: string | null = null;
  private readonly sheet = new Sheet();
  private column = 0;
  private row = 0;
  private span: 'cell' | 'row' | 'column' = 'cell';
  private offset = 0;
  /** The edit inside a cell; null while none is going on. */
  private edit: Field | null = null;
  private readonly inputLine: Field = new Field('', {
    onEnter: () => this.enterLine(),
    onBlur: () => this.commitLine(),
  });

  get title(): string {
    return `${this.path ? nameOf(this.path) : 'Untitled.csv'} - LibreOffice Calc`;
  }

  override get typing(): TextTarget {
    return this;
  }

  override open(args: string[]): void {
    this.path = args[0] ? resolvePath(args[0]) : null;
    const text = (this.path && this.system.vfs.readText(this.path)) ?? '';
    if (this.path && extensionOf(this.path) === '.ods') this.sheet.loadJson(text);
    else this.sheet.loadCsv(text);
    this.edit = null;
    this.focus = null;
    this.offset = 0;
    this.select(0, 0);
  }

  view(ui: Ui): void {
    ui.menuBar(1, [
      { name: 'File', items: () => this.fileMenu() },
      { name: 'Edit', items: () => this.editMenu() },
      { name: 'Data', items: () => this.dataMenu() },
      { name: 'Format', items: () => this.formatMenu() },
    ]);
    if (this.focus !== this.inputLine)
      this.inputLine.set(this.edit?.text ?? this.sheet.cell(this.column, this.row).content);
    ui.label(0, 2, 2, cellName(this.column, this.row), { bg: C.menuBar });
    ui.entry(2, 2, 13, 'Input line', this.inputLine);
    this.viewHeaders(ui);
    for (let row = 0; row < ROWS; row++)
      for (let column = 0; column < COLUMNS; column++) this.viewCell(ui, column, row);
  }

  private viewHeaders(ui: Ui): void {
    ui.fill(0, 3, 15, 1, C.tab);
    for (let column = 0; column < COLUMNS; column++) {
      const bg = column === this.column ? C.rowSelected : C.tab;
      const name = String.fromCharCode(65 + column);
      const click = () => this.select(column, 0, 'column');
      ui.add('table-column-header', 2 + column * WIDE, 3, WIDE, name, { bg, edges: true, label: `  ${name}`, click });
    }
    for (let i = 0; i < ROWS; i++) {
      const row = i + this.offset;
      const bg = row === this.row ? C.rowSelected : C.tab;
      const click = () => this.select(0, row, 'row');
      ui.add('table-row-header', 0, 4 + i, 2, String(row + 1), { bg, edges: true, label: ` ${row + 1}`, click });
    }
  }

  private viewCell(ui: Ui, column: number, line: number): void {
    const row = line + this.offset;
    const cell = this.sheet.cell(column, row);
    const selected = this.isSelected(column, row);
    const editing = selected && this.edit !== null;
    const bg = editing ? C.fieldFocus : selected ? C.rowSelected : cell.highlight ? C.unread : C.field;
    const full = editing ? this.edit!.text : this.sheet.shown(column, row);
    const label = editing ? full.slice(-5) : full;
    ui.add('table-cell', 2 + column * WIDE, 4 + line, WIDE, cellName(column, row), {
      bg,
      label,
      text: full,
      selected,
      focused: editing,
      caret: editing ? label.length : undefined,
      deco: cell.bold ? DECO.bold : 0,
      edges: true,
      click: () => this.select(column, row),
      double: () => this.startEdit(column, row),
    });
  }

  // Typing into cells.

  insert(text: string): void {
    this.edit ??= new Field();
    this.edit.insert(text);
  }

  override key(combo: string): boolean;
  override key(combo: string, clipboard: Clipboard): boolean;
  override key(combo: string, clipboard?: Clipboard): boolean {
    if (clipboard) return this.cellKey(combo, clipboard);
    if (combo === 'ctrl+s') this.save();
    else if (combo === 'ctrl+shift+s') this.saveAs();
    else if (combo === 'ctrl+b') this.toggle('bold');
    else return false;
    return true;
  }

  private cellKey(combo: string, clipboard: Clipboard): boolean {
    const steps: Record<string, [number, number]> = {
      enter: [0, 1],
      tab: [1, 0],
      down: [0, 1],
      up: [0, -1],
      left: [-1, 0],
      right: [1, 0],
    };
    const step = steps[combo];
    if (step) {
      this.select(this.column + step[0], this.row + step[1]);
      return true;
    }
    if (this.edit) {
      if (combo === 'esc') this.edit = null;
      else return this.edit.key(combo, clipboard);
      return true;
    }
    return this.idleKey(combo, clipboard);
  }

  private idleKey(combo: string, clipboard: Clipboard): boolean {
    const { content } = this.sheet.cell(this.column, this.row);
    if (combo === 'delete' || combo === 'backspace') this.clearCells();
    else if (combo === 'f2') this.startEdit(this.column, this.row);
    else if (combo === 'ctrl+c' || combo === 'ctrl+x') {
      clipboard.text = content;
      if (combo === 'ctrl+x') this.clearCells();
    } else if (combo === 'ctrl+v') this.setCell(clipboard.text.replaceAll('\n', ' '));
    else if (combo === 'ctrl+z') this.sheet.undo();
    else return false;
    return true;
  }

  override scroll(rows: number): void {
    this.offset = clampScroll(this.offset + rows, MAX_ROWS, ROWS);
  }

  private startEdit(column: number, row: number): void {
    this.select(column, row);
    this.edit = new Field(this.sheet.cell(column, row).content);
  }

  private setCell(content: string): void {
    this.sheet.change(() => this.sheet.setContent(this.column, this.row, content));
  }

  private commit(): void {
    if (this.focus === this.inputLine) dropFocus(this);
    if (!this.edit) return;
    const { text } = this.edit;
    this.edit = null;
    this.setCell(text);
  }

  private commitLine(): void {
    const { text } = this.inputLine;
    if (text !== this.sheet.cell(this.column, this.row).content) this.setCell(text);
    this.edit = null;
  }

  private enterLine(): void {
    dropFocus(this);
    this.select(this.column, this.row + 1);
  }

  private select(column: number, row: number, span: 'cell' | 'row' | 'column' = 'cell'): void {
    this.commit();
    this.span = span;
    this.column = Math.max(0, Math.min(COLUMNS - 1, column));
    this.row = Math.max(0, Math.min(MAX_ROWS - 1, row));
    if (span === 'cell') this.offset = Math.max(Math.min(this.offset, this.row), this.row - ROWS + 1);
  }

  private isSelected(column: number, row: number): boolean {
    if (this.span === 'row') return row === this.row;
    if (this.span === 'column') return column === this.column;
    return column === this.column && row === this.row;
  }

  private selectedCells(): [number, number][] {
    if (this.span === 'cell') return [[this.column, this.row]];
    const { rows, columns } = this.sheet.extent();
    if (this.span === 'row') return Array.from({ length: columns }, (_, c): [number, number] => [c, this.row]);
    return Array.from({ length: rows }, (_, r): [number, number] => [this.column, r]);
  }

  // Commands.

  private fileMenu(): MenuItem[] {
    return [
      { name: 'New', run: () => this.open([]) },
      { name: 'Save', run: () => this.save() },
      { name: 'Save As', run: () => this.saveAs() },
    ];
  }

  private editMenu(): MenuItem[] {
    return [
      { name: 'Undo', run: () => this.undo() },
      { name: 'Insert Row', run: () => this.alter(() => this.sheet.insertRow(this.row)) },
      { name: 'Delete Row', run: () => this.alter(() => this.sheet.deleteRow(this.row)) },
      { name: 'Delete Column', run: () => this.alter(() => this.sheet.deleteColumn(this.column)) },
      { name: 'Clear', run: () => this.clearCells() },
    ];
  }

  private dataMenu(): MenuItem[] {
    return [
      { name: 'Sort Ascending', run: () => this.alter(() => this.sheet.sort(this.column, false)) },
      { name: 'Sort Descending', run: () => this.alter(() => this.sheet.sort(this.column, true)) },
    ];
  }

  private formatMenu(): MenuItem[] {
    return [
      { name: 'Bold', run: () => this.toggle('bold') },
      { name: 'Highlight', run: () => this.toggle('highlight') },
      { name: 'Percent', run: () => this.toggle('percent') },
    ];
  }

  private alter(change: () => void): void {
    this.commit();
    this.sheet.change(change);
  }

  private undo(): void {
    if (this.edit) this.edit = null;
    else this.sheet.undo();
  }

  private clearCells(): void {
    this.edit = null;
    this.sheet.change(() => {
      for (const [column, row] of this.selectedCells()) this.sheet.setContent(column, row, '');
    });
  }

  private toggle(mark: CellMark): void {
    const cells = this.selectedCells();
    const on = !cells.every(([column, row]) => this.sheet.cell(column, row)[mark]);
    this.alter(() => {
      for (const [column, row] of cells) this.sheet.setMark(column, row, mark, on);
    });
  }

  private save(): void {
    this.commit();
    if (this.path) this.saveTo(this.path);
    else this.saveAs();
  }

  private saveAs(): void {
    this.commit();
    askSaveAs(this.system, this.path, '.csv', (path) => this.saveTo(path));
  }

  private saveTo(path: string): void {
    const text = extensionOf(path) === '.ods' ? this.sheet.toJson() : this.sheet.toCsv();
    if (this.system.vfs.write(path, text)) this.path = path;
  }
}
