import { BareGuest } from '../guest/bare_guest.testing.ts';
import type { AccessibleNode, Action, ExecuteResult, Frame, Size } from '../guest/guest.ts';

const NOTHING: ExecuteResult = { output: '', error: '', returncode: 0 };

/** A guest for tests: files in a map, scripted command output, and a list of what was asked of it. */
export class FakeGuest extends BareGuest {
  override readonly screen: Size = { width: 1920, height: 1080 };
  readonly files = new Map<string, Uint8Array>();
  /** Output by command, words joined with a blank. */
  readonly outputs = new Map<string, Partial<ExecuteResult>>();
  readonly calls: string[] = [];
  tree: AccessibleNode = { role: 'desktop-frame', name: 'main', states: [], children: [] };
  terminal: string | null = null;

  constructor() {
    super('fake');
  }

  put(path: string, text: string): this {
    this.files.set(path, Buffer.from(text, 'utf8'));
    return this;
  }

  text(path: string): string | undefined {
    const bytes = this.files.get(path);
    return bytes && new TextDecoder().decode(bytes);
  }

  override async screenshot(): Promise<Frame> {
    throw new Error('the fake guest has no screen');
  }

  override async accessibility(): Promise<AccessibleNode> {
    return this.tree;
  }

  override async act(action: Action): Promise<void> {
    this.calls.push(`act ${JSON.stringify(action)}`);
  }

  override async execute(command: string | string[], options?: { shell?: boolean }): Promise<ExecuteResult> {
    this.calls.push(`execute ${words(command)}${options?.shell ? ' (shell)' : ''}`);
    return { ...NOTHING, ...this.outputs.get(words(command)) };
  }

  override async launch(command: string | string[], options?: { shell?: boolean }): Promise<void> {
    this.calls.push(`launch ${words(command)}${options?.shell ? ' (shell)' : ''}`);
  }

  override async readFile(path: string): Promise<Uint8Array | null> {
    return this.files.get(path) ?? null;
  }

  override async writeFile(path: string, data: Uint8Array): Promise<void> {
    this.files.set(path, data);
  }

  override async openFile(path: string): Promise<void> {
    this.calls.push(`open ${path}`);
  }

  override async activateWindow(name: string, match = {}): Promise<void> {
    this.calls.push(`activate ${name} ${JSON.stringify(match)}`);
  }

  override async closeWindow(name: string, match = {}): Promise<void> {
    this.calls.push(`close ${name} ${JSON.stringify(match)}`);
  }

  override async terminalOutput(): Promise<string | null> {
    return this.terminal;
  }
}

function words(command: string | string[]): string {
  return Array.isArray(command) ? command.join(' ') : command;
}
