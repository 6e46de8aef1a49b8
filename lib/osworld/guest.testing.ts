import type { AccessibleNode, Action, ExecuteResult, Frame, Guest, Size } from '../guest/guest.ts';

const NOTHING: ExecuteResult = { output: '', error: '', returncode: 0 };

/** A guest for tests: files in a map, scripted command output, and a list of what was asked of it. */
export class FakeGuest implements Guest {
  readonly id = 'fake';
  readonly screen: Size = { width: 1920, height: 1080 };
  readonly files = new Map<string, Uint8Array>();
  /** Output by command, words joined with a blank. */
  readonly outputs = new Map<string, Partial<ExecuteResult>>();
  readonly calls: string[] = [];
  tree: AccessibleNode = { role: 'desktop-frame', name: 'main', states: [], children: [] };
  terminal: string | null = null;

  put(path: string, text: string): this {
    this.files.set(path, Buffer.from(text, 'utf8'));
    return this;
  }

  text(path: string): string | undefined {
    const bytes = this.files.get(path);
    return bytes && new TextDecoder().decode(bytes);
  }

  async screenshot(): Promise<Frame> {
    throw new Error('the fake guest has no screen');
  }

  async accessibility(): Promise<AccessibleNode> {
    return this.tree;
  }

  async act(action: Action): Promise<void> {
    this.calls.push(`act ${JSON.stringify(action)}`);
  }

  async execute(command: string | string[], options?: { shell?: boolean }): Promise<ExecuteResult> {
    this.calls.push(`execute ${words(command)}${options?.shell ? ' (shell)' : ''}`);
    return { ...NOTHING, ...this.outputs.get(words(command)) };
  }

  async launch(command: string | string[], options?: { shell?: boolean }): Promise<void> {
    this.calls.push(`launch ${words(command)}${options?.shell ? ' (shell)' : ''}`);
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    return this.files.get(path) ?? null;
  }

  async writeFile(path: string, data: Uint8Array): Promise<void> {
    this.files.set(path, data);
  }

  async openFile(path: string): Promise<void> {
    this.calls.push(`open ${path}`);
  }

  async activateWindow(name: string, match = {}): Promise<void> {
    this.calls.push(`activate ${name} ${JSON.stringify(match)}`);
  }

  async closeWindow(name: string, match = {}): Promise<void> {
    this.calls.push(`close ${name} ${JSON.stringify(match)}`);
  }

  async terminalOutput(): Promise<string | null> {
    return this.terminal;
  }

  async close(): Promise<void> {}
}

function words(command: string | string[]): string {
  return Array.isArray(command) ? command.join(' ') : command;
}
