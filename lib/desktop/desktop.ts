import {
  type AccessibleNode,
  type Action,
  type DirectoryTree,
  type GuestWindow,
  WHEEL_CLICKS,
} from '../guest/guest.ts';
import { keyName } from '../guest/keys.ts';
import { HOME, nameOf, resolvePath, type Vfs } from './files/vfs.ts';
import { Cells, HEIGHT, WIDTH } from './screen/cells.ts';
import { paintWidget } from './screen/paint.ts';
import { PALETTE } from './screen/palette.ts';
import { encodeIndexed } from './screen/png.ts';
import { pressKeys, typeText } from './session/keyboard.ts';
import { isModifier } from './session/keys.ts';
import type { Layer } from './session/layers.ts';
import { type Button, drag, press } from './session/pointer.ts';
import { hitTest, Session, type WindowQuery } from './session/session.ts';
import { accessibilityTree } from './session/tree.ts';
import { runArguments, runLine, type ShellResult } from './shell/shell.ts';

/** Rows that a scroll of the usual number of wheel clicks moves a list by; a list shows about six. */
const SCROLL_ROWS = 3;

/**
 * A whole small computer in memory: 160x120 pixels, eleven applications, a file system of its own. Synchronous and
 * deterministic: the same seed and the same actions give the same pixels. docs/desktop.md says what everything does.
 */
export class EmbeddedDesktop {
  private session: Session;
  private layers: Layer[] = [];
  private readonly cells = new Cells();
  private pointer = { x: 0, y: 0 };
  private pressed: { button: Button; x: number; y: number } | null = null;
  private held = new Set<string>();
  private pngCache: { version: number; bytes: Uint8Array } | null = null;

  constructor(seed = 0) {
    this.session = new Session(seed);
    this.render();
  }

  /** Back to a fresh computer with the layout of this seed. */
  reset(seed: number): void {
    this.session = new Session(seed);
    this.pointer = { x: 0, y: 0 };
    this.pressed = null;
    this.held = new Set();
    this.render();
  }

  get vfs(): Vfs {
    return this.session.vfs;
  }

  get seed(): number {
    return this.session.seed;
  }

  /** The frame: WIDTH x HEIGHT palette indices, row-major. Changes in place with the next action. */
  get pixels(): Uint8Array {
    return this.cells.pixels;
  }

  /** Grows whenever the frame changes. */
  get frameVersion(): number {
    return this.cells.version;
  }

  /** The frame as an indexed PNG; made once a frame. */
  png(): Uint8Array {
    if (this.pngCache?.version !== this.cells.version) {
      const bytes = encodeIndexed(this.pixels, WIDTH, HEIGHT, PALETTE);
      this.pngCache = { version: this.cells.version, bytes };
    }
    return this.pngCache.bytes;
  }

  /** Plays one action and redraws what changed. `finished`, `fail` and `wait` do nothing. */
  act(action: Action): void {
    this.perform(action);
    this.render();
  }

  accessibility(): AccessibleNode {
    this.render();
    return accessibilityTree(
      this.layers,
      (w) => hitTest(this.layers, w.x + (w.w >> 1), w.y + (w.h >> 1))?.widget === w,
    );
  }

  /** Runs a command in the desktop's own shell: words as they are, or a line (`shell`), in a folder. */
  execute(command: string | string[], shell = typeof command === 'string', folder?: string): ShellResult {
    const line = typeof command === 'string' ? command : command.join(' ');
    const words = typeof command === 'string' ? command.split(/\s+/).filter(Boolean) : command;
    const start = resolvePath(folder ?? HOME);
    const result = shell ? runLine(line, this.session, start) : runArguments(words, this.session, start);
    this.render();
    return result;
  }

  /** Starts a program; false when there is none of that name. */
  launch(argv: string[]): boolean {
    const known = this.session.launch(argv);
    this.render();
    return known;
  }

  /** Opens a file or folder with the application for it; false when there is none at that path. */
  openFile(path: string): boolean {
    const exists = this.vfs.exists(resolvePath(path));
    if (exists) this.session.openFile(path);
    this.render();
    return exists;
  }

  /** Content of a file; null when there is none. */
  readFile(path: string): Uint8Array | null {
    return this.vfs.readBytes(resolvePath(path));
  }

  /** Writes a file and what shows it; false when a folder or a file is in the way. */
  writeFile(path: string, data: Uint8Array): boolean {
    const written = this.vfs.write(resolvePath(path), data);
    this.render();
    return written;
  }

  /** Brings the window that matches to the front; false when none does. */
  activateWindow(name: string, query: WindowQuery = {}): boolean {
    const window = this.session.findWindow(name, query);
    if (window) this.session.raise(window);
    this.render();
    return window !== undefined;
  }

  closeWindow(name: string, query: WindowQuery = {}): boolean {
    const window = this.session.findWindow(name, query);
    if (window) this.session.closeApp(window.app);
    this.render();
    return window !== undefined;
  }

  windows(): GuestWindow[] {
    return this.session.windows.map(({ program, app }) => ({ title: app.title, wmClass: program.windowClass }));
  }

  /** Everything below a folder; null when there is none at that path. */
  listDirectory(path: string): DirectoryTree | null {
    const full = resolvePath(path);
    return this.vfs.isFolder(full) ? treeOf(this.vfs, full) : null;
  }

  /** Palette index of what is behind the windows. */
  get wallpaperColour(): number {
    return this.session.wallpaperColour;
  }

  /** Where the pointer is, in pixels. */
  get cursor(): [x: number, y: number] {
    return [this.pointer.x, this.pointer.y];
  }

  /** Transcript of the terminal; null when it is not the active window. */
  terminalOutput(): string | null {
    const app = this.session.top?.app;
    return app && 'transcript' in app ? String(app.transcript) : null;
  }

  /** Draws the screen again; `full` paints every pixel, for the test that this changes nothing. */
  render(full = false): void {
    this.layers = this.session.layout();
    for (const layer of this.layers) for (const widget of layer.widgets) paintWidget(this.cells, widget);
    this.cells.flush(full);
  }

  private perform(action: Action): void {
    const { session, layers } = this;
    if ('x' in action && typeof action.x === 'number' && typeof action.y === 'number') {
      this.pointer = { x: action.x, y: action.y };
    }
    const { x, y } = this.pointer;
    const layout = () => session.layout();
    if (action.type === 'click') press(session, layers, x, y, 'left');
    else if (action.type === 'double_click' || action.type === 'triple_click') press(session, layers, x, y, 'left', 2);
    else if (action.type === 'right_click') press(session, layers, x, y, 'right');
    else if (action.type === 'middle_click') press(session, layers, x, y, 'middle');
    else if (action.type === 'drag') drag(session, layers, action, { x: action.to_x, y: action.to_y });
    else if (action.type === 'scroll') this.scroll(action.direction, action.amount ?? WHEEL_CLICKS);
    else if (action.type === 'type') typeText(session, layout, action.text);
    else if (action.type === 'hotkey') pressKeys(session, layout, action.keys, this.held);
    else this.performHalf(action);
  }

  /** The halves of a click or a key press. Everything else that can come here does nothing. */
  private performHalf(action: Action): void {
    const { session, layers, pointer, pressed } = this;
    if (action.type === 'mouse_down') this.pressed = { button: action.button, ...pointer };
    else if (action.type === 'mouse_up') {
      this.pressed = null;
      if (!pressed || pressed.button !== action.button) return;
      if (pressed.button === 'left') drag(session, layers, pressed, pointer);
      else press(session, layers, pressed.x, pressed.y, pressed.button);
    } else if (action.type === 'key_down' || action.type === 'key_up') {
      const key = keyName(action.key);
      if (action.type === 'key_up') this.held.delete(key);
      else if (isModifier(key)) this.held.add(key);
      else pressKeys(session, () => session.layout(), [key], this.held);
    }
  }

  private scroll(direction: 'up' | 'down' | 'left' | 'right', amount: number): void {
    if (direction === 'left' || direction === 'right' || this.session.popup || this.session.dialog) return;
    const rows = Math.max(1, Math.round((SCROLL_ROWS * Math.min(amount, 500)) / WHEEL_CLICKS));
    this.session.top?.app.scroll(direction === 'down' ? rows : -rows);
  }
}

function treeOf(vfs: Vfs, path: string): DirectoryTree {
  const name = nameOf(path);
  if (!vfs.isFolder(path)) return { type: 'file', name };
  const children = vfs.list(path).map((child) => treeOf(vfs, path === '/' ? `/${child}` : `${path}/${child}`));
  return { type: 'directory', name, children };
}
