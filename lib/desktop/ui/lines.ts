import type { Clipboard, TextTarget } from './widget.ts';

/** One paragraph of the line editor with its marks; plain text editors use only `text`. */
export interface Line {
  text: string;
  bold?: boolean;
  italic?: boolean;
  center?: boolean;
  list?: boolean;
  heading?: boolean;
}

export type Mark = 'bold' | 'italic' | 'center' | 'list' | 'heading';

const MAX_LINES = 200;
const MAX_CHARACTERS = 400;

/**
 * Lines of text with a caret and a selection of whole lines, the model behind Writer and Code. Clicking a line selects
 * it; typing replaces the selection; enter splits.
 */
export class LineEditor implements TextTarget {
  lines: Line[] = [{ text: '' }];
  row = 0;
  column = 0;
  /** First and last selected line; null without a selection. */
  selection: [number, number] | null = null;
  onChange: (() => void) | undefined;
  private undo: { lines: Line[]; row: number; column: number }[] = [];

  load(lines: Line[]): void {
    this.lines = lines.length > 0 ? lines : [{ text: '' }];
    this.undo = [];
    this.caretToEnd();
  }

  plain(): string {
    return this.lines.map((line) => line.text).join('\n');
  }

  caretToEnd(): void {
    this.selection = null;
    this.row = this.lines.length - 1;
    this.column = this.current.text.length;
  }

  selectLine(row: number): void {
    this.row = row;
    this.column = this.current.text.length;
    this.selection = [row, row];
  }

  isSelected(row: number): boolean {
    return this.selection !== null && row >= this.selection[0] && row <= this.selection[1];
  }

  /** The lines that an editing command works on: the selected ones, else the caret's. */
  get targets(): Line[] {
    const [from, to] = this.selection ?? [this.row, this.row];
    return this.lines.slice(from, to + 1);
  }

  /** Changes lines as one undoable step. */
  edit(change: () => void): void {
    this.undo.push({ lines: this.lines.map((line) => ({ ...line })), row: this.row, column: this.column });
    if (this.undo.length > 30) this.undo.shift();
    change();
    this.clampCaret();
    this.onChange?.();
  }

  toggle(mark: Mark): void {
    const { targets } = this;
    const on = !targets.every((line) => line[mark]);
    this.edit(() => {
      for (const line of targets) line[mark] = on;
    });
  }

  replaceAll(find: string, replacement: string): void {
    if (find === '') return;
    this.edit(() => {
      for (const line of this.lines) line.text = line.text.replaceAll(find, replacement).slice(0, MAX_CHARACTERS);
    });
  }

  insert(text: string): void {
    this.edit(() => {
      this.dropSelectedText();
      const line = this.current;
      if (line.text.length + text.length > MAX_CHARACTERS) return;
      line.text = line.text.slice(0, this.column) + text + line.text.slice(this.column);
      this.column += text.length;
    });
  }

  key(combo: string, clipboard: Clipboard): boolean {
    return this.moveKey(combo) || this.editKey(combo) || this.clipboardKey(combo, clipboard);
  }

  undoLast(): void {
    const before = this.undo.pop();
    if (!before) return;
    Object.assign(this, before);
    this.selection = null;
    this.onChange?.();
  }

  selectAll(): void {
    this.selection = [0, this.lines.length - 1];
  }

  private get current(): Line {
    const line = this.lines[this.row];
    if (line) return line;
    this.row = Math.max(0, Math.min(this.row, this.lines.length - 1));
    return this.lines[this.row] ?? { text: '' };
  }

  private clampCaret(): void {
    this.column = Math.min(this.column, this.current.text.length);
  }

  private moveKey(combo: string): boolean {
    const last = this.lines.length - 1;
    const length = this.current.text.length;
    if (combo === 'left') this.column = Math.max(0, this.column - 1);
    else if (combo === 'right') this.column = Math.min(length, this.column + 1);
    else if (combo === 'home') this.column = 0;
    else if (combo === 'end') this.column = length;
    else if (combo === 'up') this.row = Math.max(0, this.row - 1);
    else if (combo === 'down') this.row = Math.min(last, this.row + 1);
    else if (combo === 'ctrl+home') [this.row, this.column] = [0, 0];
    else if (combo === 'ctrl+end') this.caretToEnd();
    else return false;
    this.selection = null;
    this.clampCaret();
    return true;
  }

  private editKey(combo: string): boolean {
    if (combo === 'enter') this.edit(() => this.split());
    else if (combo === 'ctrl+a') this.selectAll();
    else if (combo === 'ctrl+z') this.undoLast();
    else if ((combo === 'backspace' || combo === 'delete') && this.selection) this.removeSelected();
    else if (combo === 'backspace') this.edit(() => this.removeBefore());
    else if (combo === 'delete') this.edit(() => this.removeAfter());
    else return false;
    return true;
  }

  private clipboardKey(combo: string, clipboard: Clipboard): boolean {
    if (combo === 'ctrl+c' || combo === 'ctrl+x') {
      if (!this.selection) return true;
      clipboard.text = this.targets.map((line) => line.text).join('\n');
      if (combo === 'ctrl+x') this.removeSelected();
      return true;
    }
    if (combo !== 'ctrl+v') return false;
    const [first = '', ...rest] = clipboard.text.split('\n');
    this.insert(first);
    for (const text of rest) {
      this.edit(() => this.split());
      this.insert(text);
    }
    return true;
  }

  private dropSelectedText(): void {
    if (!this.selection) return;
    const [from, to] = this.selection;
    const kept = this.lines[from] ?? { text: '' };
    kept.text = '';
    this.lines.splice(from + 1, to - from);
    this.selection = null;
    this.row = from;
    this.column = 0;
  }

  private removeSelected(): void {
    this.edit(() => {
      if (!this.selection) return;
      const [from, to] = this.selection;
      this.lines.splice(from, to - from + 1);
      if (this.lines.length === 0) this.lines.push({ text: '' });
      this.selection = null;
      this.row = Math.min(from, this.lines.length - 1);
      this.column = this.current.text.length;
    });
  }

  private split(): void {
    if (this.lines.length >= MAX_LINES) return;
    if (this.selection) {
      // Enter with a selected line starts a new line below it: losing the text would be no help.
      this.row = this.selection[1];
      this.column = this.current.text.length;
      this.selection = null;
    }
    const line = this.current;
    const rest = line.text.slice(this.column);
    line.text = line.text.slice(0, this.column);
    this.lines.splice(this.row + 1, 0, { ...line, text: rest, heading: false });
    this.row++;
    this.column = 0;
  }

  private removeBefore(): void {
    const line = this.current;
    if (this.column > 0) {
      line.text = line.text.slice(0, this.column - 1) + line.text.slice(this.column);
      this.column--;
      return;
    }
    const above = this.lines[this.row - 1];
    if (!above) return;
    this.lines.splice(this.row, 1);
    this.row--;
    this.column = above.text.length;
    above.text += line.text;
  }

  private removeAfter(): void {
    const line = this.current;
    if (this.column < line.text.length) {
      line.text = line.text.slice(0, this.column) + line.text.slice(this.column + 1);
      return;
    }
    const below = this.lines[this.row + 1];
    if (!below) return;
    line.text += below.text;
    this.lines.splice(this.row + 1, 1);
  }
}
