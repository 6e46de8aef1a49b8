import type {
  AccessibleNode,
  Action,
  DirectoryTree,
  ExecuteOptions,
  ExecuteResult,
  Frame,
  Guest,
  GuestWindow,
  RunOptions,
  ScriptOptions,
  Size,
  WindowMatch,
} from './guest.ts';

const RAN: ExecuteResult = { output: '', error: '', returncode: 0 };

/** A desktop with nothing in it: tests override what they are about. It has no screen and cannot record. */
export class BareGuest implements Guest {
  readonly id: string;
  readonly screen: Size = { width: 16, height: 12 };

  constructor(id: string) {
    this.id = id;
  }

  async screenshot(): Promise<Frame> {
    throw new Error('a bare guest has no screen');
  }

  async accessibility(): Promise<AccessibleNode> {
    return { role: 'desktop-frame', name: '', states: [], children: [] };
  }

  async execute(_command: string | string[], _options?: ExecuteOptions): Promise<ExecuteResult> {
    return { ...RAN };
  }

  async runPython(_code: string, _options?: RunOptions): Promise<ExecuteResult> {
    return { ...RAN };
  }

  async runBash(_script: string, _options?: ScriptOptions): Promise<ExecuteResult> {
    return { ...RAN };
  }

  async readFile(_path: string): Promise<Uint8Array | null> {
    return null;
  }

  async listDirectory(_path: string): Promise<DirectoryTree | null> {
    return null;
  }

  async windows(): Promise<GuestWindow[]> {
    return [];
  }

  async windowSize(_appClass: string): Promise<Size | null> {
    return null;
  }

  async terminalOutput(): Promise<string | null> {
    return null;
  }

  async wallpaper(): Promise<Uint8Array | null> {
    return null;
  }

  async desktopPath(): Promise<string> {
    return '/home/user/Desktop';
  }

  async cursorPosition(): Promise<[x: number, y: number]> {
    return [0, 0];
  }

  async platform(): Promise<string> {
    return 'Linux';
  }

  async endRecording(): Promise<Uint8Array> {
    throw new Error('a bare guest records nothing');
  }

  async act(_action: Action): Promise<void> {}
  async launch(_command: string | string[], _options?: ExecuteOptions): Promise<void> {}
  async writeFile(_path: string, _data: Uint8Array): Promise<void> {}
  async openFile(_path: string): Promise<void> {}
  async activateWindow(_name: string, _match?: WindowMatch): Promise<void> {}
  async closeWindow(_name: string, _match?: WindowMatch): Promise<void> {}
  async setWallpaper(_path: string): Promise<void> {}
  async startRecording(): Promise<void> {}
  async close(): Promise<void> {}
}
