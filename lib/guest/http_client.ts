import type { z } from 'zod';
import { DartError } from '../errors.ts';
import { parseAccessibilityXml } from './accessibility_xml.ts';
import {
  type AccessibleNode,
  type Action,
  type DirectoryTree,
  EXECUTE_LIMIT_MS,
  type ExecuteOptions,
  type ExecuteResult,
  type Frame,
  type Guest,
  type GuestWindow,
  type ResettableGuest,
  type RunOptions,
  type ScriptOptions,
  type Size,
  type WindowMatch,
} from './guest.ts';
import { type GuestAddress, guestAddress } from './http_address.ts';
import * as answers from './http_answers.ts';
import type { GuestAnswer } from './http_exchange.ts';
import { type GuestRequest, type RetryOptions, requestGuest } from './http_request.ts';
import { isPng, pngFrame } from './png_frame.ts';
import { PYAUTOGUI_PREFIX, toPyautogui } from './pyautogui.ts';

export interface HttpGuestOptions extends Partial<RetryOptions> {
  id?: string;
}

/** Time limits of OSWorld's controller and set-up (reference/osworld.md §1), ms. */
const LIMITS = { screenshot: 10_000, python: 90_000, upload: 600_000, open: 1_810_000, reset: 310_000, other: 60_000 };
/** How much longer than the server the client waits: the server's word on what took too long is the better one, ms. */
const GRACE_MS = 5000;

type Asked = Partial<GuestRequest>;

/** A desktop behind an OSWorld server: a container, a virtual machine, a pod, or our own server. */
export class HttpGuest implements Guest {
  readonly id: string;
  /** Without the token. */
  readonly url: string;
  readonly screen: Size;
  private readonly address: GuestAddress;
  private readonly options: RetryOptions;

  private constructor(address: GuestAddress, id: string, screen: Size, options: RetryOptions) {
    this.url = address.url;
    this.address = address;
    this.id = id;
    this.screen = screen;
    this.options = options;
  }

  /**
   * Asks the server for its screen's size. Rejects where no server answers. A token in the URL
   * (`http://:TOKEN@host:5000`) goes with every request and is never shown.
   */
  static async connect(url: string, options: HttpGuestOptions = {}): Promise<HttpGuest> {
    const address = guestAddress(url);
    const retry = { tries: options.tries ?? 3, retryDelayMs: options.retryDelayMs ?? 5000, signal: options.signal };
    const id = options.id ?? address.url;
    const probe = new HttpGuest(address, id, { width: 0, height: 0 }, retry);
    const screen = await probe.ask('/screen_size', answers.sizeAnswer, { method: 'POST' });
    return new HttpGuest(address, id, { width: screen.width, height: screen.height }, retry);
  }

  async screenshot(): Promise<Frame> {
    const complaint = (bytes: Uint8Array) => (isPng(bytes) ? null : 'the screenshot is no PNG');
    const { bytes } = await this.request('/screenshot', { timeoutMs: LIMITS.screenshot, complaint });
    return pngFrame(bytes, this.id);
  }

  async accessibility(): Promise<AccessibleNode> {
    return parseAccessibilityXml(await this.ask('/accessibility', answers.treeAnswer), this.id);
  }

  async act(action: Action): Promise<void> {
    const code = toPyautogui(action);
    if (code === '') return;
    const result = await this.execute(['python', '-c', PYAUTOGUI_PREFIX + code]);
    if (result.returncode === 0) return;
    throw new DartError(`the desktop could not play ${action.type}: ${result.error.trim()}`, { where: this.id });
  }

  /** OSWorld's first server knows no `timeout` and ends every program after two minutes. */
  async execute(command: string | string[], options: ExecuteOptions = {}): Promise<ExecuteResult> {
    const shell = options.shell ?? typeof command === 'string';
    return this.order('/execute', { command, shell }, answers.executeAnswer, EXECUTE_LIMIT_MS, options);
  }

  async runPython(code: string, options: RunOptions = {}): Promise<ExecuteResult> {
    return this.order('/run_python', { code }, answers.pythonAnswer, LIMITS.python, options);
  }

  /**
   * Through `/execute`, as OSWorld's `/run_bash_script` runs the script and then fails (reference/osworld.md §7.2):
   * the two streams come one after the other.
   */
  async runBash(script: string, { workingDir, ...options }: ScriptOptions = {}): Promise<ExecuteResult> {
    const place = workingDir === undefined ? '' : `cd ${shellWord(workingDir)} || exit 1\n`;
    const result = await this.execute(['bash', '-c', place + script], options);
    return { output: result.output + result.error, error: '', returncode: result.returncode };
  }

  async launch(command: string | string[], options: ExecuteOptions = {}): Promise<void> {
    await this.post('/setup/launch', { command, shell: options.shell ?? typeof command === 'string' });
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    const body = new URLSearchParams({ file_path: path });
    return this.bytesOf('/file', { body, timeoutMs: LIMITS.upload });
  }

  async writeFile(path: string, data: Uint8Array): Promise<void> {
    const body = new FormData();
    body.set('file_path', path);
    body.set('file_data', new Blob([new Uint8Array(data)]), 'file');
    await this.request('/setup/upload', { method: 'POST', body, timeoutMs: LIMITS.upload });
  }

  async listDirectory(path: string): Promise<DirectoryTree | null> {
    const answer = await this.request('/list_directory', { method: 'POST', body: { path }, accept: [400, 404] });
    return answer.status === 200 ? this.parse('/list_directory', answer, answers.directoryAnswer) : null;
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

  /** From our own server; OSWorld's has no such endpoint, there the window manager is asked. */
  async windows(): Promise<GuestWindow[]> {
    const answer = await this.request('/windows', { accept: [404] });
    if (answer.status === 200) return this.parse('/windows', answer, answers.windowsAnswer);
    return answers.readWindowList((await this.execute(['wmctrl', '-l', '-x'])).output);
  }

  async windowSize(appClass: string): Promise<Size | null> {
    const body = new URLSearchParams({ app_class_name: appClass });
    // A window that is not there is a 500 of OSWorld's server.
    const answer = await this.request('/window_size', { method: 'POST', body, accept: [404, 500] });
    return answer.status === 200 ? this.parse('/window_size', answer, answers.sizeAnswer) : null;
  }

  async terminalOutput(): Promise<string | null> {
    return this.ask('/terminal', answers.terminalAnswer);
  }

  async wallpaper(): Promise<Uint8Array | null> {
    return this.bytesOf('/wallpaper', {});
  }

  async setWallpaper(path: string): Promise<void> {
    await this.post('/setup/change_wallpaper', { path });
  }

  async desktopPath(): Promise<string> {
    return this.ask('/desktop_path', answers.desktopPathAnswer, { method: 'POST' });
  }

  async cursorPosition(): Promise<[x: number, y: number]> {
    return this.ask('/cursor_position', answers.pointAnswer);
  }

  async platform(): Promise<string> {
    return new TextDecoder().decode((await this.request('/platform')).bytes).trim();
  }

  async startRecording(): Promise<void> {
    await this.post('/start_recording', {});
  }

  async endRecording(): Promise<Uint8Array> {
    const asked: Asked = { method: 'POST', body: {}, timeoutMs: LIMITS.upload, idempotent: false };
    return (await this.request('/end_recording', asked)).bytes;
  }

  async close(): Promise<void> {}

  /** Sends a JSON body to an endpoint whose answer says nothing more than that it worked. */
  async post(path: string, body: Record<string, unknown>, timeoutMs = LIMITS.other): Promise<void> {
    await this.request(path, { method: 'POST', body, timeoutMs, idempotent: false });
  }

  /** Has a program run. `usualMs`: how long an answer may take where the options do not say how long the program may. */
  private async order<T>(
    path: string,
    body: Record<string, unknown>,
    schema: z.ZodType<T>,
    usualMs: number,
    { timeoutMs, signal }: RunOptions,
  ): Promise<T> {
    const limited = timeoutMs === undefined ? body : { ...body, timeout: timeoutMs / 1000 };
    const limitMs = (timeoutMs ?? usualMs) + GRACE_MS;
    return this.ask(path, schema, { method: 'POST', body: limited, timeoutMs: limitMs, idempotent: false, signal });
  }

  private async bytesOf(path: string, asked: Asked): Promise<Uint8Array | null> {
    const { status, bytes } = await this.request(path, { method: 'POST', accept: [404], ...asked });
    return status === 404 ? null : bytes;
  }

  private async ask<T>(path: string, schema: z.ZodType<T>, asked: Asked = {}): Promise<T> {
    return this.parse(path, await this.request(path, asked), schema);
  }

  private request(path: string, asked: Asked = {}): Promise<GuestAnswer> {
    const request: GuestRequest = { method: 'GET', timeoutMs: LIMITS.other, idempotent: true, ...asked, path };
    return requestGuest(this.id, this.address, request, this.options);
  }

  private parse<T>(path: string, { bytes }: GuestAnswer, schema: z.ZodType<T>): T {
    const parsed = schema.safeParse(jsonOf(bytes));
    if (parsed.success) return parsed.data;
    throw new DartError(`the answer to ${path} is not what OSWorld's server gives`, { where: this.id });
  }
}

/** Our own server's desktop, which can also be reset: `POST /reset`, which OSWorld's server has not. */
export async function connectResettable(url: string, options: HttpGuestOptions = {}): Promise<ResettableGuest> {
  const guest = await HttpGuest.connect(url, options);
  return Object.assign(guest, { reset: (seed: number) => guest.post('/reset', { seed }, LIMITS.reset) });
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function windowBody(name: string, match: WindowMatch): Record<string, unknown> {
  return { window_name: name, strict: match.strict ?? false, by_class: match.byClass ?? false };
}
