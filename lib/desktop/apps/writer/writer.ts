import { extensionOf } from '../../files/vfs.ts';
import { followCaret, viewEditor } from '../../ui/editor_view.ts';
import { type Line, LineEditor, type Mark } from '../../ui/lines.ts';
import { askReplace } from '../../ui/save_dialog.ts';
import type { Ui } from '../../ui/ui.ts';
import type { MenuItem, TextTarget } from '../../ui/widget.ts';
import { clampScroll } from '../app.ts';
import { OfficeApp } from '../office.ts';
import { parseMarkdown, printMarkdown, splitLines } from './markdown.ts';

const ROWS = 10;
const MARKS: [string, Mark, number][] = [
  ['Bold', 'bold', 3],
  ['Italic', 'italic', 4],
  ['Center', 'center', 4],
  ['List', 'list', 3],
];

/** The word processor. */
export class WriterApp extends OfficeApp {
  protected readonly program = 'Writer';
  protected readonly extension = '.md';
  private readonly editor = new LineEditor();
  private offset = 0;

  override get typing(): TextTarget {
    return this.editor;
  }

  protected load(text: string): void {
    const plain = this.path !== null && isPlain(this.path);
    this.editor.load(plain ? splitLines(text).map((line) => ({ text: line })) : parseMarkdown(text));
    this.offset = 0;
  }

  protected print(path: string): string {
    return isPlain(path) ? `${this.editor.plain()}\n` : printMarkdown(this.editor.lines);
  }

  view(ui: Ui): void {
    ui.menuBar(1, [
      { name: 'File', items: () => this.fileMenu() },
      { name: 'Edit', items: () => this.editMenu() },
      { name: 'Format', items: () => this.formatMenu() },
    ]);
    let x = 0;
    for (const [name, mark, w] of MARKS) {
      const on = this.editor.targets.every((line) => line[mark] === true);
      ui.toggle(x, 2, w, name, on, () => this.editor.toggle(mark), { keepsFocus: true });
      x += w;
    }
    if (!this.editor.selection) this.offset = followCaret(this.editor, this.offset, ROWS);
    const focused = ui.isFocused(this.editor);
    viewEditor(ui, this.editor, this.offset, { x: 0, y: 3, w: 15, rows: ROWS, focused });
  }

  override key(combo: string): boolean {
    const marks: Record<string, Mark> = { 'ctrl+b': 'bold', 'ctrl+i': 'italic', 'ctrl+e': 'center' };
    const mark = marks[combo];
    if (mark) this.editor.toggle(mark);
    else if (combo === 'ctrl+h') this.replace();
    else return super.key(combo);
    return true;
  }

  override scroll(rows: number): void {
    this.offset = clampScroll(this.offset + rows, this.editor.lines.length, ROWS);
  }

  protected override fileMenu(): MenuItem[] {
    return [{ name: 'New', run: () => this.open([]) }, ...super.fileMenu()];
  }

  private editMenu(): MenuItem[] {
    return [
      { name: 'Undo', run: () => this.editor.undoLast() },
      { name: 'Select All', run: () => this.editor.selectAll() },
      { name: 'Find Replace', run: () => this.replace() },
    ];
  }

  private formatMenu(): MenuItem[] {
    const each = (change: (line: Line) => void) => () => {
      const { targets } = this.editor;
      this.editor.edit(() => targets.forEach(change));
    };
    const upper = each((line) => {
      line.text = line.text.toUpperCase();
    });
    const lower = each((line) => {
      line.text = line.text.toLowerCase();
    });
    return [
      { name: 'Bold', run: () => this.editor.toggle('bold') },
      { name: 'Italic', run: () => this.editor.toggle('italic') },
      { name: 'Uppercase', run: upper },
      { name: 'Lowercase', run: lower },
      { name: 'Center', run: () => this.editor.toggle('center') },
      { name: 'Bullet List', run: () => this.editor.toggle('list') },
      { name: 'Heading', run: () => this.editor.toggle('heading') },
    ];
  }

  private replace(): void {
    askReplace(this.system, 'Find Replace', (find, replacement) => this.editor.replaceAll(find, replacement));
  }
}

function isPlain(path: string): boolean {
  return extensionOf(path) === '.txt';
}
