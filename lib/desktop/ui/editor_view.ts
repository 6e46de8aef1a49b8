import { DECO } from '../screen/cells.ts';
import { C } from '../screen/palette.ts';
import type { Line, LineEditor } from './lines.ts';
import type { Ui } from './ui.ts';

/** Where a line editor is shown, in cells of the window. */
export interface EditorPlace {
  x: number;
  y: number;
  w: number;
  rows: number;
  /** The window is active: the caret is shown. */
  focused: boolean;
  bg?: number;
}

/** One `paragraph` a line, with caret, selection and marks; a click below the text puts the caret at its end. */
export function viewEditor(ui: Ui, editor: LineEditor, offset: number, place: EditorPlace): void {
  const { x, y, w, rows } = place;
  const bg = place.bg ?? C.field;
  ui.fill(x, y, w, rows, bg, { click: () => editor.caretToEnd() });
  ui.list(editor.lines, offset, rows, (line, row) => {
    const index = row + offset;
    const selected = editor.isSelected(index);
    const caretHere = place.focused && !selected && editor.row === index;
    const indent = indentOf(line, w);
    const room = w * 2 - 1;
    const from = caretHere ? Math.max(0, editor.column + indent - room) : 0;
    const label = ' '.repeat(indent) + (line.list ? '- ' : '') + line.text;
    const caret = caretHere ? editor.column + indent + (line.list ? 2 : 0) - from : undefined;
    return ui.add('paragraph', x, y + row, w, line.text, {
      bg: selected ? C.rowSelected : caretHere ? C.fieldFocus : bg,
      fg: line.heading ? C.close : C.black,
      label: label.slice(from, from + w * 2),
      text: line.text,
      selected,
      focused: caretHere,
      caret: caret !== undefined && caret <= room ? caret : undefined,
      deco: (line.bold ? DECO.bold : 0) | (line.italic ? DECO.italic : 0),
      click: () => editor.selectLine(index),
    });
  });
}

function indentOf(line: Line, w: number): number {
  return line.center ? Math.max(0, w - (line.text.length >> 1)) : 0;
}

/** The scroll offset that keeps the caret in sight. */
export function followCaret(editor: LineEditor, offset: number, rows: number): number {
  return Math.max(Math.min(offset, editor.row), editor.row - rows + 1);
}
