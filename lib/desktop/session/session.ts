import type { App, System } from '../apps/app.ts';
import { freshFiles } from '../files/defaults.ts';
import { defaultApplication, readSetting } from '../files/settings.ts';
import { WALLPAPER } from '../files/settings_table.ts';
import { resolvePath, type Vfs } from '../files/vfs.ts';
import { C } from '../screen/palette.ts';
import { runLine, type ShellHost } from '../shell/shell.ts';
import { type Dialog, type DialogButton, firstField } from '../ui/dialog.ts';
import type { UiHost } from '../ui/ui.ts';
import type { Clipboard, MenuItem, TextTarget, Widget } from '../ui/widget.ts';
import { dockLayer } from './dock.ts';
import {
  backgroundLayer,
  DOCK_COLUMNS,
  dialogLayer,
  type Layer,
  type OpenDialog,
  type Popup,
  popupLayer,
  type Window,
  windowLayer,
} from './layers.ts';
import { filesProgram, PROGRAMS, type Program, programForFile, programOf } from './programs.ts';
import { jitter, seededOrder } from './random.ts';

const WALLPAPERS: Record<string, number> = {
  blue: C.wallBlue,
  green: C.wallGreen,
  purple: C.wallPurple,
  orange: C.wallOrange,
};

export interface WindowQuery {
  strict?: boolean;
  byClass?: boolean;
}

/** Everything between two resets: files, windows, menus, dialogs and the clipboard. */
export class Session implements System, ShellHost {
  readonly seed: number;
  readonly vfs: Vfs;
  readonly clipboard: Clipboard = { text: '' };
  /** Back to front: the last one is the active window. */
  windows: Window[] = [];
  popup: Popup | null = null;
  dialog: OpenDialog | null = null;

  constructor(seed: number) {
    this.seed = seed;
    this.vfs = freshFiles();
  }

  get top(): Window | undefined {
    return this.windows.at(-1);
  }

  /** What typed text goes to. */
  get target(): TextTarget | null {
    if (this.dialog) return this.dialog.focus;
    return this.top?.app.focus ?? this.top?.app.typing ?? null;
  }

  order<T>(label: string, items: readonly T[], name: (item: T) => string): T[] {
    return seededOrder(this.seed, items, (item) => `${label}/${name(item)}`);
  }

  // What applications ask for.

  showDialog(dialog: Dialog): void {
    this.popup = null;
    const focus = firstField(dialog);
    focus?.clicked(false);
    this.dialog = { dialog, focus };
  }

  showPopup(x: number, y: number, items: MenuItem[], menu: string | null = null): void {
    this.popup = items.length > 0 ? { x, y, items, menu } : null;
  }

  closeDialog(button: DialogButton | undefined): void {
    this.dialog = null;
    button?.run?.();
  }

  choose(item: MenuItem): void {
    this.popup = null;
    item.run();
  }

  run(line: string, folder: string): { output: string; folder: string } {
    const result = runLine(line, this, folder);
    return { output: result.output + result.error, folder: result.folder };
  }

  defaultApp(type: string): string | null {
    return defaultApplication(this.vfs, type);
  }

  openFile(path: string): void {
    const full = resolvePath(path);
    const folder = this.vfs.isFolder(full);
    this.start(folder ? filesProgram() : programForFile(full, (type) => this.defaultApp(type)), [full]);
  }

  launch(argv: string[]): boolean {
    const found = programOf(argv);
    if (found) this.start(found.program, found.args);
    return found !== null;
  }

  kill(name: string): boolean {
    const window = this.windows.find(({ program }) => program.commands.includes(name) || program.windowClass === name);
    if (window) this.closeApp(window.app);
    return window !== undefined;
  }

  // Windows.

  /** Starts a program, or brings its window to the front; hands it the arguments. */
  start(program: Program, args: string[]): void {
    this.popup = null;
    this.dialog = null;
    const running = this.windows.find((w) => w.program === program);
    const window = running ?? this.createWindow(program);
    this.raise(window);
    if (!running || args.length > 0) window.app.open(args);
  }

  raise(window: Window): void {
    if (window === this.top) return;
    this.top?.app.focus?.blur?.();
    this.windows = [...this.windows.filter((w) => w !== window), window];
  }

  closeApp(app: App): void {
    if (this.top?.app === app) this.dialog = null;
    this.popup = null;
    this.windows = this.windows.filter((w) => w.app !== app);
  }

  findWindow(name: string, query: WindowQuery): Window | undefined {
    const wanted = name.toLowerCase();
    return this.windows.findLast(({ program, app }) => {
      if (query.byClass) return program.windowClass === wanted || program.application.toLowerCase() === wanted;
      const title = app.title.toLowerCase();
      return query.strict ? title === wanted : title.includes(wanted);
    });
  }

  private createWindow(program: Program): Window {
    const x = DOCK_COLUMNS + jitter(this.seed, `${program.dock} x`, 2);
    const y = jitter(this.seed, `${program.dock} y`, 3);
    return { program, app: program.create(this), x, y };
  }

  // The screen.

  get wallpaperColour(): number {
    const name = readSetting(this.vfs, WALLPAPER.schema, WALLPAPER.key)?.replaceAll("'", '') ?? 'blue';
    return WALLPAPERS[name] ?? C.wallBlue;
  }

  /** All widgets, back to front. */
  layout(): Layer[] {
    const layers = [backgroundLayer(this.wallpaperColour), dockLayer(this, PROGRAMS)];
    for (const window of this.windows) {
      const active = window === this.top;
      layers.push(windowLayer(window, active, this.hostOf(window, active), () => this.closeApp(window.app)));
    }
    if (this.dialog) layers.push(dialogLayer(this.dialog, this.top, (button) => this.closeDialog(button)));
    if (this.popup) layers.push(popupLayer(this.popup, this.top, (item) => this.choose(item)));
    return layers;
  }

  private hostOf(window: Window, active: boolean): UiHost {
    return {
      openMenu: active ? (this.popup?.menu ?? null) : null,
      focus: active && !this.dialog ? (window.app.focus ?? window.app.typing) : null,
      showPopup: (x, y, items, menu) => this.showPopup(x, y, items, menu),
    };
  }
}

/** The widget that a click on a cell reaches, and its layer; null where a menu or a dialog is in the way. */
export function hitTest(layers: Layer[], x: number, y: number): { layer: Layer; widget: Widget } | null {
  const top = layers.at(-1);
  const modal = top?.kind === 'popup' || top?.kind === 'dialog';
  for (let i = layers.length - 1; i >= 0; i--) {
    const layer = layers[i]!;
    const widget = layer.widgets.findLast((w) => !w.decor && x >= w.x && x < w.x + w.w && y >= w.y && y < w.y + w.h);
    if (widget) return { layer, widget };
    if (modal) return null;
  }
  return null;
}
