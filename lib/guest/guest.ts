import type { Action } from '../stream/action.ts';

export { type Action, WHEEL_CLICKS } from '../stream/action.ts';

export interface Size {
  width: number;
  height: number;
}

/** One screenshot. `rgb` and `png` are made on first use: a frame that is only looked at by the policy costs no PNG. */
export interface Frame extends Size {
  /** Row-major, 3 bytes a pixel, `width * height * 3` long. The caller must not write into it. */
  rgb(): Uint8Array;
  /** The picture as a PNG file. */
  png(): Uint8Array;
}

/** A node of the accessibility tree, the same for every guest (AT-SPI names). */
export interface AccessibleNode {
  /** AT-SPI role with hyphens: `push-button`, `entry`, `check-box`, `menu-item`, `list-item`, `table-cell`, … */
  role: string;
  name: string;
  /** Text of an entry, value of a cell. */
  text?: string;
  /** Screen pixels; absent for nodes without a place. */
  bounds?: { x: number; y: number; width: number; height: number };
  /** AT-SPI states that hold: `showing`, `focused`, `checked`, `selected`, `enabled`, … */
  states: string[];
  /** What the toolkit says of it beyond that (`id`, `class`, `tag`); absent where it says nothing. */
  attributes?: Record<string, string>;
  children: AccessibleNode[];
}

/** How long a program may take where nothing else is said: the limit of OSWorld's server, ms. */
export const EXECUTE_LIMIT_MS = 120_000;

export interface RunOptions {
  /** After this long (ms) the program is killed and the call rejects; where it is absent, after `EXECUTE_LIMIT_MS`. */
  timeoutMs?: number;
  /** Aborted when nobody waits for the answer any more: the program is killed and the call rejects. */
  signal?: AbortSignal;
}

export interface ExecuteOptions extends RunOptions {
  shell?: boolean;
}

export interface ScriptOptions extends RunOptions {
  workingDir?: string;
}

export interface ExecuteResult {
  output: string;
  error: string;
  returncode: number;
}

/** A window as a window manager lists it. */
export interface GuestWindow {
  title: string;
  /** `libreoffice.libreoffice-calc`, `gimp`: what `byClass` and `windowSize` look at. */
  wmClass: string;
}

/** Content of a folder, as the server's `/list_directory`. */
export interface DirectoryTree {
  type: 'directory' | 'file';
  name: string;
  /** Of a directory: all of them. */
  children?: DirectoryTree[];
}

export interface WindowMatch {
  strict?: boolean;
  byClass?: boolean;
}

/**
 * Anything that answers the OSWorld server's API (design §5, reference/osworld.md §1). Set-up steps, getters, metrics
 * and policies see desktops only through this. Every method rejects with a DartError that names the desktop.
 */
export interface Guest {
  readonly id: string;
  readonly screen: Size;
  screenshot(): Promise<Frame>;
  /** The root (`desktop-frame`) of the accessibility tree. */
  accessibility(): Promise<AccessibleNode>;
  /**
   * Plays one action. `finished` and `fail` do nothing here: they end the episode in the runner. A `wait` with `ms` is
   * a pause between actions: a desktop whose programs run by themselves sleeps so long, others return at once.
   */
  act(action: Action): Promise<void>;
  /** Runs a program to its end. A failing program is a result; one that takes too long rejects (TookTooLong). */
  execute(command: string | string[], options?: ExecuteOptions): Promise<ExecuteResult>;
  /** Runs Python code in the desktop. A guest without Python reads scripts of pyautogui calls, and refuses others. */
  runPython(code: string, options?: RunOptions): Promise<ExecuteResult>;
  /** Runs a bash script in the desktop; `output` has what it printed on both streams. */
  runBash(script: string, options?: ScriptOptions): Promise<ExecuteResult>;
  /** Starts a program and does not wait for it. Rejects where there is no such program; a shell starts anything. */
  launch(command: string | string[], options?: ExecuteOptions): Promise<void>;
  /** Null when there is no such file. */
  readFile(path: string): Promise<Uint8Array | null>;
  writeFile(path: string, data: Uint8Array): Promise<void>;
  /** Everything below a folder; null when there is no such folder. */
  listDirectory(path: string): Promise<DirectoryTree | null>;
  openFile(path: string): Promise<void>;
  windows(): Promise<GuestWindow[]>;
  /** Of a window whose WM_CLASS has that instance or class, in any case; null when there is none. */
  windowSize(appClass: string): Promise<Size | null>;
  activateWindow(name: string, match?: WindowMatch): Promise<void>;
  closeWindow(name: string, match?: WindowMatch): Promise<void>;
  /** Null when no terminal is focused. */
  terminalOutput(): Promise<string | null>;
  /** The picture behind the windows, as the file that it is; null when there is none. */
  wallpaper(): Promise<Uint8Array | null>;
  setWallpaper(path: string): Promise<void>;
  /** The folder whose files lie on the desktop. */
  desktopPath(): Promise<string>;
  /** Screen pixels. */
  cursorPosition(): Promise<[x: number, y: number]>;
  /** `Linux` */
  platform(): Promise<string>;
  /** Records the screen until `endRecording`. Rejects where the guest cannot record, or records already. */
  startRecording(): Promise<void>;
  /** The recording as an MP4 file. Rejects where none runs. */
  endRecording(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A guest that can go back to a clean state by itself; others are replaced (environment/). */
export interface ResettableGuest extends Guest {
  /** Back to the state that `seed` describes: same seed, same pixels. */
  reset(seed: number): Promise<void>;
}
