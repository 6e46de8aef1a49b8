import type { Action, Frame, ResettableGuest } from '../guest/guest.ts';

/** What tests do to a fake desktop: anything thrown here comes out of the desktop. */
export interface FakeHooks {
  reset?: (seed: number) => void | Promise<void>;
  act?: (action: Action) => void | Promise<void>;
  screenshot?: () => void | Promise<void>;
  close?: () => void | Promise<void>;
}

/** A desktop without programs: it remembers what was done to it. For tests. */
export class FakeGuest implements ResettableGuest {
  readonly screen = { width: 16, height: 12 };
  readonly log: string[] = [];
  readonly files = new Map<string, Uint8Array>();
  readonly id: string;
  readonly #hooks: FakeHooks;

  constructor(id: string, hooks: FakeHooks = {}) {
    this.id = id;
    this.#hooks = hooks;
  }

  async reset(seed: number): Promise<void> {
    this.log.push(`reset ${seed}`);
    this.files.clear();
    await this.#hooks.reset?.(seed);
  }

  async act(action: Action): Promise<void> {
    this.log.push(action.type);
    await this.#hooks.act?.(action);
  }

  async screenshot(): Promise<Frame> {
    await this.#hooks.screenshot?.();
    return {
      ...this.screen,
      rgb: () => new Uint8Array(16 * 12 * 3),
      png: () => Buffer.from(`picture ${this.log.length}`),
    };
  }

  async accessibility() {
    return { role: 'desktop-frame', name: '', states: [], children: [] };
  }

  async execute() {
    return { output: '', error: '', returncode: 0 };
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    return this.files.get(path) ?? null;
  }

  async writeFile(path: string, data: Uint8Array): Promise<void> {
    this.files.set(path, data);
  }

  async launch(): Promise<void> {}
  async openFile(): Promise<void> {}
  async activateWindow(): Promise<void> {}
  async closeWindow(): Promise<void> {}

  async terminalOutput(): Promise<null> {
    return null;
  }

  async close(): Promise<void> {
    this.log.push('close');
    await this.#hooks.close?.();
  }
}
