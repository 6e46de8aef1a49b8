import { z } from 'zod';
import { DartError } from '../errors.ts';
import { parseAccessibilityXml } from './accessibility_xml.ts';
import type {
  AccessibleNode,
  Action,
  DirectoryTree,
  ExecuteOptions,
  ExecuteResult,
  Frame,
  Guest,
  GuestWindow,
  ResettableGuest,
  RunOptions,
  ScriptOptions,
  Size,
  WindowMatch,
} from './guest.ts';
import { type GuestRequest, type RetryOptions, requestGuest } from './http_request.ts';
import { pngFrame } from './png_frame.ts';
import { PYAUTOGUI_PREFIX, toPyautogui } from './pyautogui.ts';

export interface HttpGuestOptions extends Partial<RetryOptions> {
  id?: string;
}

/** Time limits of OSWorld's controller and set-up (reference/osworld.md §1), ms. */
const LIMITS = {
  screenshot: 10_000,
  execute: 120_000,
  python: 90_000,
  upload: 600_000,
  open: 1_810_000,
  other: 60_000,
};

const sizeSchema = z.object({ width: z.number().int().positive(), height: z.number().int().positive() });
const executeSchema = z.looseObject({
  output: z.string().nullish(),
  error: z.string().nullish(),
  returncode: z.number().nullish(),
});
const pythonSchema = z.looseObject({
  output: z.string().nullish(),
  error: z.string().nullish(),
  return_code: z.number().nullish(),
});
const entrySchema: z.ZodType<DirectoryTree> = z.object({
  type: z.enum(['directory', 'file']),
  name: z.string(),
  get children() {
    return z.array(entrySchema).optional();
  },
});
const directorySchema = z.looseObject({ directory_tree: entrySchema });
const windowsSchema = z
  .array(z.looseObject({ title: z.string(), wm_class: z.string() }))
  .transform((windows) => windows.map(({ title, wm_class }) => ({ title, wmClass: wm_class })));
const desktopPathSchema = z.looseObject({ desktop_path: z.string() });
const pointSchema = z.tuple([z.number(), z.number()]);
const treeSchema = z.looseObject({ AT: z.string() });
const terminalSchema = z.looseObject({ output: z.string().nullable() });

/** A desktop behind an OSWorld server: a container, a virtual machine, a pod, or our own server. */
export class HttpGuest implements Guest {
  readonly id: string;
  readonly url: string;
  readonly screen: Size;
  private readonly options: RetryOptions;

  private constructor(url: string, id: string, screen: Size, options: RetryOptions) {
    this.url = url;
    this.id = id;
    this.screen = screen;
    this.options = options;
  }

  /** Asks the server for its screen's size. Rejects where no server answers. */
  static async connect(url: string, options: HttpGuestOptions = {}): Promise<HttpGuest> {
    const base = url.replace(/\/+$/, '');
    const retry = { tries: options.tries ?? 3, retryDelayMs: options.retryDelayMs ?? 5000, signal: options.signal };
    const id = options.id ?? base;
    const probe = new HttpGuest(base, id, { width: 0, height: 0 }, retry);
    const screen = await probe.json(
      { method: 'POST', path: '/screen_size', timeoutMs: LIMITS.other, idempotent: true },
      sizeSchema,
    );
    return new HttpGuest(base, id, { width: screen.width, height: screen.height }, retry);
  }

  async screenshot(): Promise<Frame> {
    const request = { method: 'GET', path: '/screenshot', timeoutMs: LIMITS.screenshot, idempotent: true } as const;
    return pngFrame(new Uint8Array(await (await this.request(request)).arrayBuffer()), this.id);
  }

  async accessibility(): Promise<AccessibleNode> {
    const request = { method: 'GET', path: '/accessibility', timeoutMs: LIMITS.other, idempotent: true } as const;
    return parseAccessibilityXml((await this.json(request, treeSchema)).AT, this.id);
  }

  async act(action: Action): Promise<void> {
    const code = toPyautogui(action);
    if (code === '') return;
    const result = await this.execute(['python', '-c', PYAUTOGUI_PREFIX + code]);
    if (result.returncode === 0) return;
    throw new DartError(`the desktop could not play ${action.type}: ${result.error.trim()}`, { where: this.id });
  }

  async execute(command: string | string[], options: ExecuteOptions = {}): Promise<ExecuteResult> {
    const timeoutMs = options.timeoutMs ?? LIMITS.execute;
    const shell = options.shell ?? typeof command === 'string';
    const body = { command, shell, ...(options.timeoutMs === undefined ? {} : { timeout: timeoutMs / 1000 }) };
    const result = await this.json(
      { method: 'POST', path: '/execute', body, timeoutMs, idempotent: false },
      executeSchema,
    );
    return { output: result.output ?? '', error: result.error ?? '', returncode: result.returncode ?? 0 };
  }

  async runPython(code: string, options: RunOptions = {}): Promise<ExecuteResult> {
    const timeoutMs = options.timeoutMs ?? LIMITS.python;
    const body = { code, ...(options.timeoutMs === undefined ? {} : { timeout: timeoutMs / 1000 }) };
    const request = { method: 'POST', path: '/run_python', body, timeoutMs, idempotent: false } as const;
    const result = await this.json(request, pythonSchema);
    return { output: result.output ?? '', error: result.error ?? '', returncode: result.return_code ?? 0 };
  }

  /**
   * Through `/execute`, as OSWorld's `/run_bash_script` runs the script and then fails (reference/osworld.md §7.2):
   * the two streams come one after the other.
   */
  async runBash(script: string, { workingDir, ...options }: ScriptOptions = {}): Promise<ExecuteResult> {
    const place = workingDir === undefined ? '' : `cd -- ${shellWord(workingDir)} || exit\n`;
    const result = await this.execute(['bash', '-c', place + script], options);
    return { output: result.output + result.error, error: '', returncode: result.returncode };
  }

  async launch(command: string | string[], options: ExecuteOptions = {}): Promise<void> {
    const body = { command, shell: options.shell ?? typeof command === 'string' };
    await this.post('/setup/launch', body);
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    const body = new URLSearchParams({ file_path: path });
    const response = await this.request({
      method: 'POST',
      path: '/file',
      body,
      timeoutMs: LIMITS.upload,
      accept: [404],
      idempotent: true,
    });
    return response.status === 404 ? null : new Uint8Array(await response.arrayBuffer());
  }

  async writeFile(path: string, data: Uint8Array): Promise<void> {
    const body = new FormData();
    body.set('file_path', path);
    body.set('file_data', new Blob([new Uint8Array(data)]), 'file');
    await this.request({ method: 'POST', path: '/setup/upload', body, timeoutMs: LIMITS.upload, idempotent: true });
  }

  async listDirectory(path: string): Promise<DirectoryTree | null> {
    const shape = { method: 'POST', path: '/list_directory', timeoutMs: LIMITS.other, idempotent: true } as const;
    const response = await this.request({ ...shape, body: { path }, accept: [400, 404] });
    return response.ok ? (await this.parse(shape.path, response, directorySchema)).directory_tree : null;
  }

  async openFile(path: string): Promise<void> {
    await this.post('/setup/open_file', { path }, LIMITS.open);
  }

  async activateWindow(name: string, match: WindowMatch = {}): Promise<void> {
    await this.post('/setup/activate_window', windowBody(name, match));
  }

  async closeWindow(name: string, match: WindowMatch = {}): Promise<void> {
    await this.post('/setup/close_window', windowBody(name, match));
  }

  async terminalOutput(): Promise<string | null> {
    const request = { method: 'GET', path: '/terminal', timeoutMs: LIMITS.other, idempotent: true } as const;
    return (await this.json(request, terminalSchema)).output;
  }

  /** From our own server; OSWorld's has no such endpoint, there the window manager is asked. */
  async windows(): Promise<GuestWindow[]> {
    const shape = { method: 'GET', path: '/windows', timeoutMs: LIMITS.other, idempotent: true } as const;
    const response = await this.request({ ...shape, accept: [404] });
    if (response.ok) return this.parse(shape.path, response, windowsSchema);
    return readWindowList((await this.execute(['wmctrl', '-l', '-x'])).output);
  }

  async windowSize(appClass: string): Promise<Size | null> {
    const body = new URLSearchParams({ app_class_name: appClass });
    const shape = { method: 'POST', path: '/window_size', timeoutMs: LIMITS.other, idempotent: true } as const;
    // A window that is not there is a 500 of OSWorld's server.
    const response = await this.request({ ...shape, body, accept: [404, 500] });
    return response.ok ? this.parse(shape.path, response, sizeSchema) : null;
  }

  async wallpaper(): Promise<Uint8Array | null> {
    const shape = { method: 'POST', path: '/wallpaper', timeoutMs: LIMITS.other, idempotent: true } as const;
    const response = await this.request({ ...shape, accept: [404] });
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
  }

  async setWallpaper(path: string): Promise<void> {
    await this.post('/setup/change_wallpaper', { path });
  }

  async desktopPath(): Promise<string> {
    const shape = { method: 'POST', path: '/desktop_path', timeoutMs: LIMITS.other, idempotent: true } as const;
    return (await this.json(shape, desktopPathSchema)).desktop_path;
  }

  async cursorPosition(): Promise<[x: number, y: number]> {
    const shape = { method: 'GET', path: '/cursor_position', timeoutMs: LIMITS.other, idempotent: true } as const;
    return this.json(shape, pointSchema);
  }

  async platform(): Promise<string> {
    const shape = { method: 'GET', path: '/platform', timeoutMs: LIMITS.other, idempotent: true } as const;
    return (await (await this.request(shape)).text()).trim();
  }

  async startRecording(): Promise<void> {
    await this.post('/start_recording', {});
  }

  async endRecording(): Promise<Uint8Array> {
    const shape = { method: 'POST', path: '/end_recording', timeoutMs: LIMITS.upload, idempotent: false } as const;
    return new Uint8Array(await (await this.request(shape)).arrayBuffer());
  }

  async close(): Promise<void> {}

  /** Sends a JSON body to an endpoint whose answer says nothing more than that it worked. */
  async post(path: string, body: Record<string, unknown>, timeoutMs = LIMITS.other): Promise<void> {
    await (await this.request({ method: 'POST', path, body, timeoutMs, idempotent: false })).arrayBuffer();
  }

  private request(request: GuestRequest): Promise<Response> {
    return requestGuest(this.id, this.url, request, this.options);
  }

  private async json<T>(request: GuestRequest, schema: z.ZodType<T>): Promise<T> {
    return this.parse(request.path, await this.request(request), schema);
  }

  private async parse<T>(path: string, response: Response, schema: z.ZodType<T>): Promise<T> {
    const value: unknown = await response.json().catch(() => null);
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new DartError(`the answer to ${path} is not what OSWorld's server gives`, { where: this.id });
  }
}

/** Our own server's desktop, which can also be reset: `POST /reset`, which OSWorld's server has not. */
export async function connectResettable(url: string, options: HttpGuestOptions = {}): Promise<ResettableGuest> {
  const guest = await HttpGuest.connect(url, options);
  return Object.assign(guest, { reset: (seed: number) => guest.post('/reset', { seed }) });
}

/** Lines of `wmctrl -l -x`: window, desktop, class, host, title. */
function readWindowList(text: string): GuestWindow[] {
  const lines = text.matchAll(/^0x\w+ +-?\d+ +(\S+) +\S+ ?(.*)$/gm);
  return [...lines].map(([, wmClass = '', title = '']) => ({ title, wmClass }));
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function windowBody(name: string, match: WindowMatch): Record<string, unknown> {
  return { window_name: name, strict: match.strict ?? false, by_class: match.byClass ?? false };
}
