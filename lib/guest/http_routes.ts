import { DartError } from '../errors.ts';
import { accessibilityXml } from './accessibility_xml.ts';
import type { ExecuteOptions, ExecuteResult, Guest } from './guest.ts';
import { BadRequest } from './http_body.ts';
import { type PointerPlace, parsePyautogui } from './pyautogui.ts';

/** One request, read. */
export interface Call {
  guest: Guest;
  pointer: PointerPlace;
  /** Fields of a JSON or form body. */
  body: Record<string, unknown>;
}

export type Reply = { status?: number; json: unknown } | { status?: number; bytes: Uint8Array; type: string };

/** OSWorld's endpoints (reference/osworld.md §1), and `POST /reset` for desktops that can be reset. */
export const ROUTES: Record<string, (call: Call) => Promise<Reply>> = {
  'GET /screenshot': async ({ guest }) => ({ bytes: (await guest.screenshot()).png(), type: 'image/png' }),
  'GET /accessibility': async ({ guest }) => ({ json: { AT: accessibilityXml(await guest.accessibility()) } }),
  'GET /terminal': async ({ guest }) => ({ json: { output: await guest.terminalOutput(), status: 'success' } }),
  'GET /platform': async () => text('Linux'),
  'GET /cursor_position': async ({ pointer }) => ({ json: [pointer.x, pointer.y] }),
  'POST /screen_size': async ({ guest }) => ({ json: { ...guest.screen } }),
  'POST /desktop_path': async () => ({ json: { desktop_path: '/home/user/Desktop' } }),
  'POST /execute': execute,
  'POST /setup/execute': execute,
  'POST /run_python': runPython,
  'POST /run_bash_script': async ({ guest, body }) => {
    const result = await guest.execute(field(body, 'script'), { shell: true });
    return {
      json: { status: 'success', output: result.output + result.error, error: '', returncode: result.returncode },
    };
  },
  'POST /setup/launch': async ({ guest, body }) => {
    await guest.launch(commandOf(body), { shell: isTrue(body.shell) });
    return text('launched');
  },
  'POST /setup/upload': async ({ guest, body }) => {
    const data = body.file_data;
    if (!(data instanceof Uint8Array)) throw new BadRequest(400, 'file_data is missing');
    await guest.writeFile(field(body, 'file_path'), data);
    return text('File Uploaded');
  },
  'POST /file': async ({ guest, body }) => {
    const bytes = await guest.readFile(field(body, 'file_path'));
    if (bytes === null) throw new BadRequest(404, 'File not found');
    return { bytes, type: 'application/octet-stream' };
  },
  'POST /setup/open_file': async ({ guest, body }) => {
    const path = field(body, 'path');
    if ((await guest.readFile(path)) === null && (await guest.execute(['test', '-e', path])).returncode !== 0) {
      throw new BadRequest(404, `File not found: ${path}`);
    }
    await guest.openFile(path);
    return text('File opened successfully');
  },
  'POST /setup/activate_window': async ({ guest, body }) => {
    await guest.activateWindow(field(body, 'window_name'), matchOf(body));
    return text('Window activated successfully');
  },
  'POST /setup/close_window': async ({ guest, body }) => {
    await guest.closeWindow(field(body, 'window_name'), matchOf(body));
    return text('Window closed successfully');
  },
  'POST /reset': async ({ guest, body }) => {
    if (!('reset' in guest) || typeof guest.reset !== 'function')
      throw new BadRequest(404, 'this desktop cannot be reset');
    if (typeof body.seed !== 'number') throw new BadRequest(400, 'seed must be a number');
    await guest.reset(body.seed);
    return { json: { status: 'success' } };
  },
};

async function execute({ guest, pointer, body }: Call): Promise<Reply> {
  const command = commandOf(body);
  const result = isPython(command)
    ? await playPython(guest, pointer, command[2] ?? '')
    : await guest.execute(command, optionsOf(body));
  return { json: { status: 'success', ...result } };
}

async function runPython({ guest, pointer, body }: Call): Promise<Reply> {
  const { output, error, returncode } = await playPython(guest, pointer, field(body, 'code'));
  const status = returncode === 0 ? 'success' : 'error';
  return { json: { status, message: output, output, error, return_code: returncode } };
}

/** Actions come as Python code; it is read as a list of pyautogui calls and never run. */
async function playPython(guest: Guest, pointer: PointerPlace, code: string): Promise<ExecuteResult> {
  try {
    for (const action of parsePyautogui(code, pointer)) await guest.act(action);
  } catch (error) {
    if (!(error instanceof DartError)) throw error;
    return { output: '', error: `${error.describe()}\n`, returncode: 1 };
  }
  return { output: '', error: '', returncode: 0 };
}

function isPython(command: string | string[]): command is string[] {
  return (
    Array.isArray(command) &&
    /^python3?$/.test(command[0] ?? '') &&
    command[1] === '-c' &&
    /pyautogui/.test(command[2] ?? '')
  );
}

function commandOf(body: Record<string, unknown>): string | string[] {
  const { command } = body;
  if (typeof command === 'string') return command;
  if (Array.isArray(command) && command.every((word) => typeof word === 'string')) return command;
  throw new BadRequest(400, 'command must be a string or a list of strings');
}

function optionsOf(body: Record<string, unknown>): ExecuteOptions {
  const timeoutMs = typeof body.timeout === 'number' ? body.timeout * 1000 : undefined;
  return { shell: isTrue(body.shell), timeoutMs };
}

function matchOf(body: Record<string, unknown>): { strict: boolean; byClass: boolean } {
  return { strict: isTrue(body.strict), byClass: isTrue(body.by_class) };
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}

function field(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '') throw new BadRequest(400, `${name} is missing`);
  return value;
}

function text(message: string): Reply {
  return { bytes: new TextEncoder().encode(message), type: 'text/plain; charset=utf-8' };
}
