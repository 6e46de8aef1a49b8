import { basename, extname } from 'node:path';
import type { GuestWindow, WindowMatch } from '../guest.ts';

/** A window as the helper lists it. */
export interface X11Window extends GuestWindow {
  id: number;
  active: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * The first window that wmctrl would take for that name: one whose title (or `instance.Class`) has it anywhere, in
 * whatever case; with `strict` one that is called just so.
 */
export function matching<W extends GuestWindow>(
  windows: readonly W[],
  name: string,
  match: WindowMatch,
): W | undefined {
  const wanted = match.strict ? name : name.toLowerCase();
  return windows.find(({ title, wmClass }) => {
    const text = match.byClass ? wmClass : title;
    return match.strict ? text === wanted : text.toLowerCase().includes(wanted);
  });
}

/** Whether a window's title has the file's name, with or without its extension. */
export function namesFile(title: string, path: string): boolean {
  const name = basename(path);
  const stem = name.slice(0, name.length - extname(name).length);
  return title.includes(name) || (stem !== '' && title.includes(stem));
}
