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
  children: AccessibleNode[];
}

export interface ExecuteOptions {
  shell?: boolean;
  timeoutMs?: number;
}

export interface ExecuteResult {
  output: string;
  error: string;
  returncode: number;
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
  /** Plays one action. `finished` and `fail` do nothing here: they end the episode in the runner. */
  act(action: Action): Promise<void>;
  execute(command: string | string[], options?: ExecuteOptions): Promise<ExecuteResult>;
  /** Starts a program and does not wait for it. */
  launch(command: string | string[], options?: ExecuteOptions): Promise<void>;
  /** Null when there is no such file. */
  readFile(path: string): Promise<Uint8Array | null>;
  writeFile(path: string, data: Uint8Array): Promise<void>;
  openFile(path: string): Promise<void>;
  activateWindow(name: string, match?: WindowMatch): Promise<void>;
  closeWindow(name: string, match?: WindowMatch): Promise<void>;
  /** Null when no terminal is focused. */
  terminalOutput(): Promise<string | null>;
  close(): Promise<void>;
}

/** A guest that can go back to a clean state by itself; others are replaced (environment/). */
export interface ResettableGuest extends Guest {
  /** Back to the state that `seed` describes: same seed, same pixels. */
  reset(seed: number): Promise<void>;
}
