import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DartError, messageOf } from '../errors.ts';
import { accessibilityXml } from './accessibility_xml.ts';
import type { ExecuteOptions, ExecuteResult, Guest } from './guest.ts';
import { type PointerPlace, parsePyautogui } from './pyautogui.ts';

/** Bytes that a request may carry. */
const MAX_BODY = 256 * 1024 * 1024;

export interface GuestServer {
  /** `http://127.0.0.1:41231` */
  url: string;
  port: number;
  close(): Promise<void>;
}

export interface GuestServerOptions {
  /** 0 takes any free port. */
  port?: number;
  /** Loopback unless told otherwise: whoever reaches the port can use the desktop. */
  host?: string;
}

/** Puts any guest on the endpoints of OSWorld's server (reference/osworld.md §1). */
export async function serveGuest(guest: Guest, options: GuestServerOptions = {}): Promise<GuestServer> {
  const { port = 0, host = '127.0.0.1' } = options;
  const desk = new Desk(guest);
  const server = createServer((request, response) => {
    desk
      .answer(request, response)
      .catch((error: unknown) => send(response, 500, { status: 'error', message: messageOf(error) }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new DartError(`cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
          where: guest.id,
          hint: 'another --port',
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Call {
  guest: Guest;
  pointer: PointerPlace;
  /** Fields of a JSON or form body. */
  body: Record<string, unknown>;
}

type Reply = { status?: number; json: unknown } | { status?: number; bytes: Uint8Array; type: string };

/** A complaint about the request rather than the desktop. */
class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** One desktop behind the endpoints: requests are answered one after another, as they share its screen. */
class Desk {
  private readonly guest: Guest;
  private readonly pointer: PointerPlace = { x: 0, y: 0 };
  private last: Promise<unknown> = Promise.resolve();

  constructor(guest: Guest) {
    this.guest = guest;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const route = ROUTES[`${request.method} ${path}`];
    if (!route) {
      send(response, 404, { status: 'error', message: `no endpoint ${request.method} ${path}` });
      return;
    }
    try {
      const body = await readBody(request);
      const turn = this.last.then(() => route({ guest: this.guest, pointer: this.pointer, body }));
      this.last = turn.catch(() => {});
      const reply = await turn;
      if ('bytes' in reply) sendBytes(response, reply.status ?? 200, reply.bytes, reply.type);
      else send(response, reply.status ?? 200, reply.json);
    } catch (error) {
      const status = error instanceof BadRequest ? error.status : 500;
      send(response, status, { status: 'error', message: messageOf(error) });
    }
  }
}

const ROUTES: Record<string, (call: Call) => Promise<Reply>> = {
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

function send(response: ServerResponse, status: number, value: unknown): void {
  sendBytes(response, status, new TextEncoder().encode(JSON.stringify(value)), 'application/json');
}

function sendBytes(response: ServerResponse, status: number, bytes: Uint8Array, type: string): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': type, 'content-length': bytes.length });
  response.end(bytes);
}

/** Fields of a request: JSON, a form, or a form with files (their bytes). */
async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new BadRequest(413, 'the request is too large');
    chunks.push(chunk);
  }
  const type = request.headers['content-type'] ?? '';
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return {};
  if (type.startsWith('multipart/form-data') || type.startsWith('application/x-www-form-urlencoded'))
    return readForm(bytes, type);
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below, with the cases that are JSON but no object.
  }
  throw new BadRequest(400, 'the body must be a JSON object');
}

async function readForm(bytes: Buffer, type: string): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form)
      fields[name] = typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer());
  } catch {
    throw new BadRequest(400, 'the form cannot be read');
  }
  return fields;
}
