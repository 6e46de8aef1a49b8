import { DartError } from '../errors.ts';
import type {
  AccessibleNode,
  Action,
  ExecuteOptions,
  ExecuteResult,
  Frame,
  ResettableGuest,
  Size,
  WindowMatch,
} from '../guest/guest.ts';
import { EmbeddedDesktop } from './desktop.ts';
import { LatencyModel, type LatencyOptions } from './latency.ts';
import { HEIGHT, WIDTH } from './screen/cells.ts';
import { PALETTE } from './screen/palette.ts';
import { encodeIndexed } from './screen/png.ts';

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
    const { output, error, returncode } = this.desktop.execute(command, options.shell ?? typeof command === 'string');
    return { output, error, returncode };
  }

  async launch(command: string | string[], _options: ExecuteOptions = {}): Promise<void> {
    this.check();
    this.desktop.execute(command);
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

  async close(): Promise<void> {
    this.closed = true;
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
