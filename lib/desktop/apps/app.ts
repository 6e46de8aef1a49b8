import type { Vfs } from '../files/vfs.ts';
import type { Dialog } from '../ui/dialog.ts';
import type { Ui } from '../ui/ui.ts';
import type { Clipboard, MenuItem, TextTarget } from '../ui/widget.ts';

/** Width and height of every window in cells, its title bar included. */
export const WINDOW_COLUMNS = 15;
export const WINDOW_ROWS = 13;

/** What an application may use of the computer it runs on. */
export interface System {
  readonly vfs: Vfs;
  readonly clipboard: Clipboard;
  /** Items in the order of this reset's seed. */
  order<T>(label: string, items: readonly T[], name: (item: T) => string): T[];
  showDialog(dialog: Dialog): void;
  showPopup(x: number, y: number, items: MenuItem[]): void;
  /** Opens a file or folder with the application for it. */
  openFile(path: string): void;
  /** Runs a command line of the desktop's own shell. */
  run(line: string, folder: string): { output: string; folder: string };
  closeApp(app: App): void;
  /** Default application of a MIME type, by the name of its dock icon in lower case. */
  defaultApp(type: string): string | null;
}

/** One application: its state, what its window shows, and what keys do. */
export abstract class App {
  readonly system: System;
  /** The field that has the focus inside the window. */
  focus: TextTarget | null = null;

  constructor(system: System) {
    this.system = system;
  }

  abstract get title(): string;

  /** Adds the widgets below the title bar; row 1 is the first free one. */
  abstract view(ui: Ui): void;

  /** What gets typed text when no field has the focus. */
  get typing(): TextTarget | null {
    return null;
  }

  /** Started, or started again, with these arguments. */
  open(_args: string[]): void {}

  /** A key that the focus did not use. True when it meant something. */
  key(_combo: string): boolean {
    return false;
  }

  /** The mouse wheel: rows, positive down. */
  scroll(_rows: number): void {}

  /** Context menu of the window's empty room; empty for none. */
  emptyMenu(): MenuItem[] {
    return [];
  }
}

/** Keeps a list's scroll offset within what there is. */
export function clampScroll(offset: number, total: number, shown: number): number {
  return Math.max(0, Math.min(offset, total - shown));
}

/** Full path of a name given in a save dialog (docs/desktop.md, "Save dialogs"); null for an empty name. */
export function savePath(name: string, folder: string, extension: string): string | null {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.endsWith('/')) return null;
  const full = trimmed.startsWith('/') ? trimmed : `${folder}/${trimmed}`;
  const base = full.slice(full.lastIndexOf('/') + 1);
  return base.includes('.') ? full : full + extension;
}
