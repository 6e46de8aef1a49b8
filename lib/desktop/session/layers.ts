import { type App, WINDOW_COLUMNS, WINDOW_ROWS } from '../apps/app.ts';
import { COLUMNS, ROWS } from '../screen/cells.ts';
import { C } from '../screen/palette.ts';
import { type Dialog, type DialogButton, dialogHeight, dialogWidgets, dialogWidth } from '../ui/dialog.ts';
import { Ui, type UiHost } from '../ui/ui.ts';
import type { MenuItem, TextTarget, Widget } from '../ui/widget.ts';
import type { Program } from './programs.ts';

/** An open window. */
export interface Window {
  program: Program;
  app: App;
  /** Top left cell. */
  x: number;
  y: number;
}

/** An open menu. */
export interface Popup {
  x: number;
  y: number;
  items: MenuItem[];
  /** Menu of the top window that it hangs from; null for a context menu. */
  menu: string | null;
}

export interface OpenDialog {
  dialog: Dialog;
  focus: TextTarget | null;
}

export const DOCK_COLUMNS = 4;

/** Widgets that belong together: a window, the dock, a menu, a dialog. Later layers cover earlier ones. */
export interface Layer {
  kind: 'desktop' | 'dock' | 'window' | 'dialog' | 'popup';
  window?: Window;
  widgets: Widget[];
}

/** The empty desktop and the ground of the dock. */
export function backgroundLayer(colour: number): Layer {
  const widgets: Widget[] = [filler(0, 0, COLUMNS, ROWS, colour), filler(0, 0, DOCK_COLUMNS, ROWS, C.dock)];
  return { kind: 'desktop', widgets };
}

/** A window's frame, title bar and contents, in cells. */
export function windowLayer(window: Window, active: boolean, host: UiHost, close: () => void): Layer {
  const ui = new Ui(window.x, window.y, host);
  ui.fill(0, 0, WINDOW_COLUMNS, WINDOW_ROWS, C.window, { edges: true });
  const bg = active ? C.title : C.titleIdle;
  ui.fill(0, 0, WINDOW_COLUMNS - 1, 1, bg, { label: window.app.title.toLowerCase(), fg: C.white });
  const red = active ? C.close : C.titleIdle;
  ui.add('push-button', WINDOW_COLUMNS - 1, 0, 1, 'Close', {
    label: '',
    icon: 'close',
    bg: red,
    fg: C.white,
    click: close,
  });
  window.app.view(ui);
  return { kind: 'window', window, widgets: ui.widgets };
}

/** A dialog over its window, moved so that all of it is on the screen. */
export function dialogLayer(
  open: OpenDialog,
  window: Window | undefined,
  close: (button: DialogButton) => void,
): Layer {
  const x = (window?.x ?? DOCK_COLUMNS) + 1;
  const y = Math.min((window?.y ?? 0) + 2, ROWS - dialogHeight(open.dialog));
  const place = { x: Math.min(x, COLUMNS - dialogWidth()), y: Math.max(0, y) };
  return { kind: 'dialog', window, widgets: dialogWidgets(open.dialog, place, open.focus, close) };
}

/** A menu where it was opened, moved so that all of it is on the screen. */
export function popupLayer(popup: Popup, window: Window | undefined, choose: (item: MenuItem) => void): Layer {
  const longest = Math.max(...popup.items.map((item) => item.name.length));
  const w = Math.ceil((longest + 2) / 2);
  const x = Math.max(0, Math.min(popup.x, COLUMNS - w));
  const y = Math.max(0, Math.min(popup.y, ROWS - popup.items.length));
  const widgets = popup.items.map(
    (item, row): Widget => ({
      role: 'menu-item',
      name: item.name,
      x,
      y: y + row,
      w,
      h: 1,
      bg: C.popup,
      fg: C.black,
      edges: true,
      click: () => choose(item),
    }),
  );
  return { kind: 'popup', window, widgets };
}

function filler(x: number, y: number, w: number, h: number, bg: number): Widget {
  return { role: 'filler', name: '', hidden: true, label: '', x, y, w, h, bg, fg: C.black };
}
