import { BareGuest } from '../guest/bare_guest.testing.ts';
import type { Action, Frame, ResettableGuest } from '../guest/guest.ts';

/** What tests do to a fake desktop: anything thrown here comes out of the desktop. */
export interface FakeHooks {
  reset?: (seed: number) => void | Promise<void>;
  act?: (action: Action) => void | Promise<void>;
  screenshot?: () => void | Promise<void>;
  close?: () => void | Promise<void>;
}

/** A desktop without programs: it remembers what was done to it. For tests. */
export class FakeGuest extends BareGuest implements ResettableGuest {
  override readonly screen = { width: 16, height: 12 };
  readonly log: string[] = [];
  readonly files = new Map<string, Uint8Array>();
  readonly #hooks: FakeHooks;

  constructor(id: string, hooks: FakeHooks = {}) {
    super(id);
    this.#hooks = hooks;
  }

  async reset(seed: number): Promise<void> {
    this.log.push(`reset ${seed}`);
    this.files.clear();
    await this.#hooks.reset?.(seed);
  }

  override async act(action: Action): Promise<void> {
    this.log.push(action.type);
    await this.#hooks.act?.(action);
  }

  override async screenshot(): Promise<Frame> {
    await this.#hooks.screenshot?.();
    return {
      ...this.screen,
      rgb: () => new Uint8Array(16 * 12 * 3),
      png: () => Buffer.from(`picture ${this.log.length}`),
    };
  }

  override async readFile(path: string): Promise<Uint8Array | null> {
    return this.files.get(path) ?? null;
  }

  override async writeFile(path: string, data: Uint8Array): Promise<void> {
    this.files.set(path, data);
  }

  override async close(): Promise<void> {
    this.log.push('close');
    await this.#hooks.close?.();
  }
}
