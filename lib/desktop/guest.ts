import { DartError } from '../errors.ts';
import type {
  AccessibleNode,
  Action,
  DirectoryTree,
  ExecuteOptions,
  ExecuteResult,
  Frame,
  GuestWindow,
  ResettableGuest,
  ScriptOptions,
  Size,
  WindowMatch,
} from '../guest/guest.ts';
import { playScript, pythonCode, readScript } from '../guest/play.ts';
import { WINDOW_COLUMNS, WINDOW_ROWS } from './apps/app.ts';
import { EmbeddedDesktop } from './desktop.ts';
import { HOME } from './files/vfs.ts';
import { LatencyModel, type LatencyOptions } from './latency.ts';
import { CELL, HEIGHT, WIDTH } from './screen/cells.ts';
import { PALETTE } from './screen/palette.ts';
import { encodeIndexed } from './screen/png.ts';

/** A shell's exit status for a program that is not there. */
const COMMAND_NOT_FOUND = 127;

/** The embedded desktop as a guest: the same answers as a desktop behind HTTP, in process. */
export class EmbeddedGuest implements ResettableGuest {
  readonly id: string;
  readonly screen: Size = { width: WIDTH, height: HEIGHT };
  readonly desktop: EmbeddedDesktop;
  private readonly latency: LatencyModel;
  private frame: { version: number; frame: Frame } | null = null;
  private closed = false;

  constructor(id: string, latency: LatencyOptions = {}) {
    this.id = id;
    this.desktop = new EmbeddedDesktop();
    this.latency = new LatencyModel(latency);
  }

  async reset(seed: number): Promise<void> {
    this.check();
    await this.latency.reset();
    this.desktop.reset(seed);
  }

  async screenshot(): Promise<Frame> {
    this.check();
    const version = this.desktop.frameVersion;
    if (this.frame?.version !== version) this.frame = { version, frame: frameOf(this.desktop.pixels.slice()) };
    return this.frame.frame;
  }

  async accessibility(): Promise<AccessibleNode> {
    this.check();
    return this.desktop.accessibility();
  }

  async act(action: Action): Promise<void> {
    this.check();
    await this.latency.step();
    this.desktop.act(action);
  }

  async execute(command: string | string[], options: ExecuteOptions = {}): Promise<ExecuteResult> {
    this.check();
    const code = pythonCode(command);
    if (code !== null) return this.runPython(code);
    const { output, error, returncode } = this.desktop.execute(command, options.shell ?? typeof command === 'string');
    return { output, error, returncode };
  }

  /** Reads the code as a list of pyautogui calls and plays them; there is no Python for any other code. */
  async runPython(code: string): Promise<ExecuteResult> {
    this.check();
    const script = await readScript(this, code);
    if (!(script instanceof DartError)) return playScript(this, script);
    return { output: '', error: `this desktop has no Python, only pyautogui: ${script.describe()}\n`, returncode: 1 };
  }

  /** Runs in the desktop's own shell: one that knows no loops and no functions. */
  async runBash(script: string, { workingDir }: ScriptOptions = {}): Promise<ExecuteResult> {
    this.check();
    const { output, error, returncode } = this.desktop.execute(script, true, workingDir);
    return { output: output + error, error: '', returncode };
  }

  async launch(command: string | string[], options: ExecuteOptions = {}): Promise<void> {
    this.check();
    const shell = options.shell ?? typeof command === 'string';
    const { returncode, error } = this.desktop.execute(command, shell);
    // A shell starts whatever it is given; a program of that name has to be there.
    if (shell || returncode !== COMMAND_NOT_FOUND) return;
    throw new DartError(`cannot launch it: ${error.trim()}`, {
      where: this.id,
      hint: 'docs/desktop.md has the programs',
    });
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    this.check();
    return this.desktop.readFile(path);
  }

  async writeFile(path: string, data: Uint8Array): Promise<void> {
    this.check();
    if (this.desktop.writeFile(path, data)) return;
    throw new DartError(`cannot write ${path}`, { where: this.id, hint: 'a path whose folders are no files' });
  }

  async listDirectory(path: string): Promise<DirectoryTree | null> {
    this.check();
    return this.desktop.listDirectory(path);
  }

  async openFile(path: string): Promise<void> {
    this.check();
    if (this.desktop.openFile(path)) return;
    throw new DartError(`there is no file ${path} to open`, {
      where: this.id,
      hint: 'write the file before opening it',
    });
  }

  async activateWindow(name: string, match: WindowMatch = {}): Promise<void> {
    this.check();
    // As OSWorld's server does: no window of that name is no error.
    this.desktop.activateWindow(name, match);
  }

  async closeWindow(name: string, match: WindowMatch = {}): Promise<void> {
    this.check();
    this.desktop.closeWindow(name, match);
  }

  async terminalOutput(): Promise<string | null> {
    this.check();
    return this.desktop.terminalOutput();
  }

  async windows(): Promise<GuestWindow[]> {
    this.check();
    return this.desktop.windows();
  }

  async windowSize(appClass: string): Promise<Size | null> {
    this.check();
    const wanted = appClass.toLowerCase();
    const found = this.desktop.windows().some(({ wmClass }) => wmClass === wanted);
    return found ? { width: WINDOW_COLUMNS * CELL, height: WINDOW_ROWS * CELL } : null;
  }

  /** The desktop is painted in one colour: a picture of that. */
  async wallpaper(): Promise<Uint8Array> {
    this.check();
    const pixels = new Uint8Array(WIDTH * HEIGHT).fill(this.desktop.wallpaperColour);
    return encodeIndexed(pixels, WIDTH, HEIGHT, PALETTE);
  }

  async setWallpaper(path: string): Promise<void> {
    throw new DartError(`cannot show ${path} behind the windows: this desktop has plain colours`, {
      where: this.id,
      hint: 'Settings, Desktop: Blue, Green, Purple or Orange',
    });
  }

  async desktopPath(): Promise<string> {
    return `${HOME}/Desktop`;
  }

  async cursorPosition(): Promise<[x: number, y: number]> {
    this.check();
    return this.desktop.cursor;
  }

  async platform(): Promise<string> {
    return 'Linux';
  }

  async startRecording(): Promise<void> {
    throw this.noVideo();
  }

  async endRecording(): Promise<Uint8Array> {
    throw this.noVideo();
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  private noVideo(): DartError {
    return new DartError('this desktop records no video', { where: this.id, hint: 'screenshots after each action' });
  }

  private check(): void {
    if (this.closed) throw new DartError('the desktop is closed', { where: this.id });
  }
}

/** A desktop in this process. Nothing has to be started or installed. */
export function createEmbeddedGuest(id: string, latency: LatencyOptions = {}): EmbeddedGuest {
  return new EmbeddedGuest(id, latency);
}

function frameOf(pixels: Uint8Array): Frame {
  let rgb: Uint8Array | null = null;
  let png: Uint8Array | null = null;
  return {
    width: WIDTH,
    height: HEIGHT,
    rgb: () => (rgb ??= toRgb(pixels)),
    png: () => (png ??= encodeIndexed(pixels, WIDTH, HEIGHT, PALETTE)),
  };
}

function toRgb(pixels: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(pixels.length * 3);
  for (let i = 0, at = 0; i < pixels.length; i++, at += 3) {
    const colour = pixels[i]! * 3;
    rgb[at] = PALETTE[colour]!;
    rgb[at + 1] = PALETTE[colour + 1]!;
    rgb[at + 2] = PALETTE[colour + 2]!;
  }
  return rgb;
}
