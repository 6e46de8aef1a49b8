import { extensionOf } from '../../files/vfs.ts';
import { DECO } from '../../screen/cells.ts';
import { C } from '../../screen/palette.ts';
import { Field } from '../../ui/field.ts';
import { dropFocus } from '../../ui/save_dialog.ts';
import type { Ui } from '../../ui/ui.ts';
import type { MenuItem, TextTarget } from '../../ui/widget.ts';
import { OfficeApp } from '../office.ts';
import { cellName } from './formula.ts';
import { CalcGrid, SHOWN_COLUMNS, SHOWN_ROWS, type Span } from './grid.ts';

/** Cells of the screen that one column takes; the row numbers take the first two. */
const WIDE = 3;
const LEFT = 2;

/** The spreadsheet. */
export class CalcApp extends OfficeApp {
  protected readonly program = 'Calc';
  protected readonly extension = '.csv';
  private readonly grid = new CalcGrid();
  private readonly inputLine: Field = new Field('', {
    onEnter: () => this.enterLine(),
    onBlur: () => this.grid.setContent(this.inputLine.text),
  });

  override get typing(): TextTarget {
    return this.grid;
  }

  protected load(text: string): void {
    this.focus = null;
    this.grid.reset();
    if (this.path && extensionOf(this.path) === '.ods') this.grid.sheet.loadJson(text);
    else this.grid.sheet.loadCsv(text);
  }

  protected print(path: string): string {
    const { sheet } = this.grid;
    return extensionOf(path) === '.ods' ? sheet.toJson() : sheet.toCsv();
  }

  view(ui: Ui): void {
    const { grid } = this;
    ui.menuBar(1, [
      { name: 'File', items: () => this.fileMenu() },
      { name: 'Edit', items: () => this.editMenu() },
      { name: 'Data', items: () => this.dataMenu() },
      { name: 'Format', items: () => this.formatMenu() },
    ]);
    if (this.focus !== this.inputLine) this.inputLine.set(grid.edit?.text ?? grid.content);
    ui.label(0, 2, LEFT, cellName(grid.column, grid.row), { bg: C.menuBar });
    ui.entry(LEFT, 2, 13, 'Input line', this.inputLine);
    this.viewHeaders(ui);
    for (let line = 0; line < SHOWN_ROWS; line++) {
      for (let column = 0; column < SHOWN_COLUMNS; column++) this.viewCell(ui, column, line);
    }
  }

  private viewHeaders(ui: Ui): void {
    const { grid } = this;
    ui.fill(0, 3, 15, 1, C.tab);
    for (let column = 0; column < SHOWN_COLUMNS; column++) {
      const bg = column === grid.column ? C.rowSelected : C.tab;
      const name = String.fromCharCode(65 + column);
      const click = () => this.select(column, 0, 'column');
      ui.add('table-column-header', LEFT + column * WIDE, 3, WIDE, name, {
        bg,
        edges: true,
        label: `  ${name}`,
        click,
      });
    }
    for (let line = 0; line < SHOWN_ROWS; line++) {
      const row = line + grid.offset;
      const bg = row === grid.row ? C.rowSelected : C.tab;
      const click = () => this.select(0, row, 'row');
      ui.add('table-row-header', 0, 4 + line, LEFT, `${row + 1}`, { bg, edges: true, label: ` ${row + 1}`, click });
    }
  }

  private viewCell(ui: Ui, column: number, line: number): void {
    const { grid } = this;
    const row = line + grid.offset;
    const cell = grid.sheet.cell(column, row);
    const selected = grid.isSelected(column, row);
    const edit = selected && column === grid.column && row === grid.row ? grid.edit : null;
    const plain = cell.highlight ? C.unread : C.field;
    const text = edit?.text ?? grid.sheet.shown(column, row);
    const label = edit ? text.slice(-5) : text;
    ui.add('table-cell', LEFT + column * WIDE, 4 + line, WIDE, cellName(column, row), {
      bg: edit ? C.fieldFocus : selected ? C.rowSelected : plain,
      label,
      text,
      selected,
      focused: edit !== null,
      caret: edit ? label.length : undefined,
      deco: cell.bold ? DECO.bold : 0,
      edges: true,
      click: () => this.select(column, row),
      double: () => grid.startEdit(column, row),
    });
  }

  override key(combo: string): boolean {
    if (combo !== 'ctrl+b') return super.key(combo);
    this.grid.toggle('bold');
    return true;
  }

  override scroll(rows: number): void {
    this.grid.scroll(rows);
  }

  private select(column: number, row: number, span: Span = 'cell'): void {
    dropFocus(this);
    this.grid.select(column, row, span);
  }

  private enterLine(): void {
    this.select(this.grid.column, this.grid.row + 1);
  }

  /** A command of a menu: what is being typed is taken into the sheet first. */
  private command(name: string, run: () => void): MenuItem {
    return {
      name,
      run: () => {
        this.commit();
        run();
      },
    };
  }

  protected override fileMenu(): MenuItem[] {
    return [{ name: 'New', run: () => this.open([]) }, ...super.fileMenu()];
  }

  private editMenu(): MenuItem[] {
    const { grid } = this;
    const { sheet } = grid;
    return [
      { name: 'Undo', run: () => grid.undo() },
      this.command('Insert Row', () => grid.alter(() => sheet.insertRow(grid.row))),
      this.command('Delete Row', () => grid.alter(() => sheet.deleteRow(grid.row))),
      this.command('Delete Column', () => grid.alter(() => sheet.deleteColumn(grid.column))),
      { name: 'Clear', run: () => grid.clear() },
    ];
  }

  private dataMenu(): MenuItem[] {
    const { grid } = this;
    return [
      this.command('Sort Ascending', () => grid.alter(() => grid.sheet.sort(grid.column, false))),
      this.command('Sort Descending', () => grid.alter(() => grid.sheet.sort(grid.column, true))),
    ];
  }

  private formatMenu(): MenuItem[] {
    return [
      this.command('Bold', () => this.grid.toggle('bold')),
      this.command('Highlight', () => this.grid.toggle('highlight')),
      this.command('Percent', () => this.grid.toggle('percent')),
    ];
  }

  protected override commit(): void {
    dropFocus(this);
    this.grid.commit();
  }
}
