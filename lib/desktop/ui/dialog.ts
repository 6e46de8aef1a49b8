import { C } from '../screen/palette.ts';
import type { Field } from './field.ts';
import { Ui, type UiHost } from './ui.ts';
import type { TextTarget, Widget } from './widget.ts';

export type DialogRow =
  | { kind: 'label'; text: string }
  | { kind: 'entry'; name: string; field: Field }
  | { kind: 'check'; name: string; on: boolean }
  | { kind: 'choice'; name: string; selected: boolean };

export interface DialogButton {
  name: string;
  /** Runs after the dialog is gone. */
  run?: () => void;
}

/** A modal box. Its first button answers enter; `Cancel`, or leaving, is esc. */
export interface Dialog {
  title: string;
  rows: DialogRow[];
  buttons: DialogButton[];
}

const DIALOG_WIDTH = 14;

/** The first entry of a dialog, which has the focus when it opens. */
export function firstField(dialog: Dialog): Field | null {
  const row = dialog.rows.find((r) => r.kind === 'entry');
  return row?.kind === 'entry' ? row.field : null;
}

/** Widgets of a dialog at a place of the screen. */
export function dialogWidgets(
  dialog: Dialog,
  place: { x: number; y: number },
  focus: TextTarget | null,
  close: (button: DialogButton) => void,
): Widget[] {
  const host: UiHost = { openMenu: null, focus, showPopup: () => {} };
  const ui = new Ui(place.x, place.y, host);
  ui.fill(0, 0, DIALOG_WIDTH, dialogHeight(dialog), C.dialog, { edges: true });
  ui.label(0, 0, DIALOG_WIDTH, dialog.title, { bg: C.dialogTitle, fg: C.white, label: ` ${dialog.title}` });
  dialog.rows.forEach((row, index) => {
    addRow(ui, dialog, row, index + 1);
  });
  let x = 1;
  for (const button of dialog.buttons) {
    const w = Math.ceil((button.name.length + 1) / 2);
    ui.button(x, dialogHeight(dialog) - 2, w, button.name, () => close(button));
    x += w + 1;
  }
  return ui.widgets;
}

/** In cells. */
export function dialogHeight(dialog: Dialog): number {
  return dialog.rows.length + 4;
}

/** In cells. */
export function dialogWidth(): number {
  return DIALOG_WIDTH;
}

function addRow(ui: Ui, dialog: Dialog, row: DialogRow, y: number): void {
  if (row.kind === 'label') {
    ui.label(1, y, DIALOG_WIDTH - 2, row.text, { bg: C.dialog });
    return;
  }
  if (row.kind === 'entry') {
    const w = Math.ceil((row.name.length + 1) / 2);
    ui.label(1, y, w, row.name, { bg: C.dialog });
    ui.entry(1 + w, y, DIALOG_WIDTH - 2 - w, row.name, row.field);
    return;
  }
  if (row.kind === 'check') {
    ui.check(1, y, DIALOG_WIDTH - 2, row.name, row.on, () => {
      row.on = !row.on;
    });
    return;
  }
  const choose = () => {
    for (const other of dialog.rows) if (other.kind === 'choice') other.selected = other === row;
  };
  ui.item(1, y, DIALOG_WIDTH - 2, row.name, row.selected, choose, { label: row.name.toLowerCase() });
}
