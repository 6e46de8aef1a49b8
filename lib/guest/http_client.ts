import { z } from 'zod';
import { DartError } from '../errors.ts';
import { parseAccessibilityXml } from './accessibility_xml.ts';
import type {
  AccessibleNode,
  Action,
  ExecuteOptions,
  ExecuteResult,
  Frame,
  Guest,
  ResettableGuest,
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
const LIMITS = { screenshot: 10_000, execute: 120_000, upload: 600_000, open: 1_810_000, other: 60_000 };

const sizeSchema = z.object({ width: z.number().int().positive(), height: z.number().int().positive() });
const executeSchema = z.looseObject({
  output: z.string().nullish(),
  error: z.string().nullish(),
  returncode: z.number().nullish(),
});
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

  async close(): Promise<void> {}

  /** Sends a JSON body to an endpoint whose answer says nothing more than that it worked. */
  async post(path: string, body: Record<string, unknown>, timeoutMs = LIMITS.other): Promise<void> {
    await (await this.request({ method: 'POST', path, body, timeoutMs, idempotent: false })).arrayBuffer();
  }

  private request(request: GuestRequest): Promise<Response> {
    return requestGuest(this.id, this.url, request, this.options);
  }

  private async json<T>(request: GuestRequest, schema: z.ZodType<T>): Promise<T> {
    const response = await this.request(request);
    const value: unknown = await response.json().catch(() => null);
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new DartError(`the answer to ${request.path} is not what OSWorld's server gives`, { where: this.id });
  }
}

/** Our own server's desktop, which can also be reset: `POST /reset`, which OSWorld's server has not. */
export async function connectResettable(url: string, options: HttpGuestOptions = {}): Promise<ResettableGuest> {
  const guest = await HttpGuest.connect(url, options);
  return Object.assign(guest, { reset: (seed: number) => guest.post('/reset', { seed }) });
}

function windowBody(name: string, match: WindowMatch): Record<string, unknown> {
  return { window_name: name, strict: match.strict ?? false, by_class: match.byClass ?? false };
}
