import { readSetting, writeSetting } from '../files/settings.ts';
import { FAVOURITES } from '../files/settings_table.ts';
import type { Vfs } from '../files/vfs.ts';
import { COLUMNS } from '../screen/cells.ts';
import { C } from '../screen/palette.ts';
import type { MenuItem } from '../ui/widget.ts';
import { DOCK_COLUMNS, type Layer, type Window } from './layers.ts';
import type { Program } from './programs.ts';
import { jitter } from './random.ts';

/** What the dock needs of the computer. */
interface DockHost {
  readonly seed: number;
  readonly vfs: Vfs;
  readonly windows: readonly Window[];
  start(program: Program, args: string[]): void;
}

/** Names of the pinned applications, lower case, in dock order. */
function favourites(session: DockHost, programs: readonly Program[]): string[] {
  const value = readSetting(session.vfs, FAVOURITES.schema, FAVOURITES.key);
  if (value === null) return programs.map((p) => p.dock.toLowerCase());
  return [...value.matchAll(/'([^']*)'/g)].map((match) => match[1] ?? '');
}

function pin(session: DockHost, names: string[]): void {
  writeSetting(session.vfs, FAVOURITES.schema, FAVOURITES.key, `[${names.map((name) => `'${name}'`).join(', ')}]`);
}

/** The column of application buttons at the left edge; the seed rotates it. */
export function dockLayer(session: DockHost, programs: readonly Program[]): Layer {
  const pinned = favourites(session, programs);
  const start = jitter(session.seed, 'dock', programs.length);
  const rotated = [...programs.slice(start), ...programs.slice(0, start)];
  const shown = rotated.filter((p) => pinned.includes(p.dock.toLowerCase()) || isRunning(session, p));
  const widgets = shown.map((program, row) => {
    const running = isRunning(session, program);
    return {
      role: 'push-button',
      name: program.dock,
      icon: program.icon,
      iconFg: C.dockIcon,
      x: 0,
      y: row,
      w: DOCK_COLUMNS,
      h: 1,
      bg: running ? C.dockRunning : C.dock,
      fg: C.dockText,
      edges: true,
      keepsFocus: true,
      click: () => session.start(program, []),
      menu: () => dockMenu(session, program, pinned),
    };
  });
  return { kind: 'dock', widgets };
}

function isRunning(session: DockHost, program: Program): boolean {
  return session.windows.some((w) => w.program === program);
}

function dockMenu(session: DockHost, program: Program, pinned: string[]): MenuItem[] {
  const name = program.dock.toLowerCase();
  const open = { name: 'Open', run: () => session.start(program, []) };
  if (pinned.includes(name)) {
    return [
      open,
      {
        name: 'Unpin',
        run: () =>
          pin(
            session,
            pinned.filter((other) => other !== name),
          ),
      },
    ];
  }
  return [open, { name: 'Pin', run: () => pin(session, [...pinned, name]) }];
}

/** Where a context menu opens: right of the pointer where there is room. */
export function popupPlace(x: number, y: number): { x: number; y: number } {
  return { x: Math.min(x + 1, COLUMNS - 1), y: y + 1 };
}
