import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { BareGuest } from './bare_guest.testing.ts';
import type { Action, ExecuteOptions, ExecuteResult, Frame } from './guest.ts';
import { type GuestServer, type GuestServerOptions, serveGuest } from './http_server.ts';

/** A door that a test opens. */
function gate(): { open: () => void; passed: Promise<void> } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

const RAN = { output: '', error: '', returncode: 0 };

/** A desktop whose work tests hold up. */
class HeldGuest extends BareGuest {
  readonly log: string[] = [];
  acting: (action: Action) => Promise<void> = async () => {};
  running: (options: ExecuteOptions) => Promise<ExecuteResult> = async () => RAN;
  looking: () => Promise<void> = async () => {};

  override async screenshot(): Promise<Frame> {
    this.log.push('look');
    await this.looking();
    return { ...this.screen, rgb: () => new Uint8Array(), png: () => new Uint8Array([1, 2]) };
  }

  override async act(action: Action): Promise<void> {
    this.log.push(`${action.type} ${'x' in action ? action.x : ''}`);
    await this.acting(action);
  }

  override async execute(_command: string | string[], options: ExecuteOptions = {}): Promise<ExecuteResult> {
    this.log.push('run');
    return this.running(options);
  }

  async reset(seed: number): Promise<void> {
    this.log.push(`reset ${seed}`);
  }
}

const servers: GuestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(guest: HeldGuest, options: GuestServerOptions = {}): Promise<string> {
  const server = await serveGuest(guest, options);
  servers.push(server);
  return server.url;
}

function post(url: string, path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(init.headers as Record<string, string>) };
  return fetch(url + path, { method: 'POST', body: JSON.stringify(body), ...init, headers });
}

const play = (url: string, code: string, init?: RequestInit) =>
  post(url, '/execute', { command: ['python', '-c', `import pyautogui; ${code}`] }, init);

describe('serveGuest', () => {
  it('keeps others out where others could reach it', async () => {
    const guest = new HeldGuest('d');
    for (const host of ['0.0.0.0', '::', '10.1.2.3']) {
      await expect(serveGuest(guest, { host })).rejects.toThrow(`a desktop on ${host} needs a token`);
    }
    await expect(serveGuest(guest, { token: 'two words' })).rejects.toThrow(DartError);
    await expect(serveGuest(guest, { token: '' })).rejects.toThrow(DartError);
    const open = await serve(guest, { host: '0.0.0.0', open: true });
    expect([open, (await fetch(`${open}/platform`)).status]).toEqual([expect.stringContaining('127.0.0.1'), 200]);
    const url = await serve(guest, { host: '0.0.0.0', token: 's3cret' });
    const status = async (authorization?: string) =>
      (await fetch(`${url}/screenshot`, { headers: authorization === undefined ? {} : { authorization } })).status;
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
    expect(await status()).toBe(401);
    for (const wrong of ['Bearer s3cre', 'Bearer s3crett', 'Bearer', 's3cret', basic('s3cret'), basic('s3cret:')]) {
      expect([wrong, await status(wrong)]).toEqual([wrong, wrong === basic('s3cret') ? 200 : 401]);
    }
    for (const right of ['Bearer s3cret', 'bearer s3cret', basic(':s3cret'), basic('user:s3cret')]) {
      expect(await status(right)).toBe(200);
    }
    expect((await fetch(`${url}/nothing`)).status).toBe(401);
  });

  it('keeps web pages out where there is no token', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    const headers = { origin: 'http://evil.test', 'content-type': 'text/plain' };
    expect((await post(url, '/execute', { command: ['true'] }, { headers })).status).toBe(403);
    expect(guest.log).toEqual([]);
  });

  it('says which port is taken', async () => {
    const guest = new HeldGuest('d');
    const { port } = new URL(await serve(guest));
    await expect(serveGuest(guest, { port: Number(port) })).rejects.toThrow(/cannot listen on 127\.0\.0\.1:\d+/);
  });

  it('shows the screen while a program runs, and plays one script after another', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    const program = gate();
    guest.running = () => program.passed.then(() => RAN);
    const running = post(url, '/execute', { command: ['long'] });
    expect((await fetch(`${url}/screenshot`)).status).toBe(200);
    const first = gate();
    const begun = gate();
    guest.acting = async (action) => {
      if (!('x' in action) || action.x !== 1) return;
      begun.open();
      await first.passed;
    };
    const one = play(url, 'pyautogui.click(1, 1); pyautogui.click(2, 2)');
    await begun.passed;
    const two = play(url, 'pyautogui.click(3, 3)');
    expect((await fetch(`${url}/screenshot`)).status).toBe(200);
    first.open();
    await Promise.all([one, two]);
    expect(guest.log.filter((line) => line.startsWith('click'))).toEqual(['click 1', 'click 2', 'click 3']);
    program.open();
    expect(await (await running).json()).toEqual({ status: 'success', ...RAN });
  });

  it('takes one screenshot at a time', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    let now = 0;
    let most = 0;
    guest.looking = async () => {
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      now--;
    };
    await Promise.all(Array.from({ length: 8 }, () => fetch(`${url}/screenshot`)));
    expect([guest.log.length, most]).toEqual([8, 1]);
  });

  it('stops a program when the client leaves', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    const stopped = gate();
    guest.running = ({ signal }) =>
      new Promise((_, reject) => {
        begun.open();
        signal!.addEventListener('abort', () => {
          stopped.open();
          reject(signal!.reason);
        });
      });
    const begun = gate();
    const client = new AbortController();
    const running = post(url, '/execute', { command: ['long'] }, { signal: client.signal });
    await begun.passed;
    client.abort();
    await expect(running).rejects.toThrow();
    await stopped.passed;
  });

  it('stops what runs when it is reset, and lets later requests wait', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    const begun = gate();
    guest.running = ({ signal }) =>
      new Promise((_, reject) => {
        begun.open();
        signal!.addEventListener('abort', () => reject(signal!.reason));
      });
    const running = post(url, '/execute', { command: ['long'] });
    await begun.passed;
    const reset = post(url, '/reset', { seed: 7 });
    const answer = await running;
    expect([answer.status, await answer.json()]).toEqual([
      500,
      expect.objectContaining({ message: 'd: the desktop was reset meanwhile' }),
    ]);
    expect((await reset).status).toBe(200);
    await fetch(`${url}/screenshot`);
    expect(guest.log).toEqual(['run', 'reset 7', 'look']);
    expect((await post(url, '/reset', { seed: 'x' })).status).toBe(400);
    expect((await post(url, '/reset', { seed: 1.5 })).status).toBe(400);
  });

  it('ends a program that does not end by itself, though the desktop does not', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    const told: (number | undefined)[] = [];
    guest.running = ({ timeoutMs }) => {
      told.push(timeoutMs);
      return told.length === 1 ? Promise.resolve(RAN) : new Promise(() => {});
    };
    await post(url, '/execute', { command: ['short'] });
    const late = await post(url, '/execute', { command: ['long'], timeout: 0.01 });
    const message = 'd: the program did not end within 0.01 s. Try: a longer timeout';
    expect([late.status, await late.json()]).toEqual([500, expect.objectContaining({ message })]);
    expect(told).toEqual([120_000, 10]);
  });

  it('plays a script no longer than it may, and then the next one', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    guest.acting = (action) => ('x' in action && action.x === 1 ? new Promise(() => {}) : Promise.resolve());
    const command = ['python', '-c', 'import pyautogui; pyautogui.click(1, 1); pyautogui.click(2, 2)'];
    const late = post(url, '/execute', { command, timeout: 0.01 });
    expect((await play(url, 'pyautogui.click(3, 3)')).status).toBe(200);
    expect((await late).status).toBe(500);
    expect(guest.log).toEqual(['click 1', 'click 3']);
  });

  it('answers 503 where the screen cannot be taken, and 500 for the rest', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    const away = () => Promise.reject(new DartError('the X server is away', { where: 'd' }));
    guest.looking = away;
    guest.running = away;
    const shot = await fetch(`${url}/screenshot`);
    expect([shot.status, await shot.json()]).toEqual([
      503,
      { status: 'error', message: 'd: the X server is away', error: 'd: the X server is away' },
    ]);
    expect((await post(url, '/execute', { command: ['true'] })).status).toBe(500);
  });

  it('keeps a recording that is asked for after it has failed to start', async () => {
    const guest = new HeldGuest('d');
    const url = await serve(guest);
    expect((await post(url, '/start_recording', {})).status).toBe(200);
    expect((await post(url, '/start_recording', {})).status).toBe(400);
    expect((await post(url, '/end_recording', {})).status).toBe(500);
    expect((await post(url, '/end_recording', {})).status).toBe(400);
  });

  it.each([null, 7, ['ls', 1], {}, []])('says what a command is where it is %j', async (command) => {
    const answer = await post(await serve(new HeldGuest('d')), '/execute', { command });
    const { message } = (await answer.json()) as { message: string };
    expect([answer.status, message]).toEqual([400, 'command must be a string or a list of strings']);
  });

  it('refuses requests that are too large before they have come', async () => {
    const url = new URL(await serve(new HeldGuest('d')));
    const options = { host: url.hostname, port: url.port, method: 'POST', path: '/execute' };
    const large = requestHttp({ ...options, headers: { 'content-length': 33 * 1024 * 1024 } });
    large.on('error', () => {});
    large.write('{');
    const [response] = (await once(large, 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close']);
    large.destroy();
  });

  it('answers a request that is too large so that who sends all of it hears why', async () => {
    const url = await serve(new HeldGuest('d'));
    const sent = () => post(url, '/execute', { command: 'x'.repeat(40 * 1024 * 1024) });
    const answers = await Promise.all([sent(), sent()]);
    expect(answers.map(({ status }) => status)).toEqual([413, 413]);
    expect(await answers[0]!.json()).toMatchObject({ message: 'the request is larger than 33554432 bytes' });
    // In pieces, without a length before them.
    const pieces = Array.from({ length: 40 }, () => new Uint8Array(1024 * 1024));
    const body = new Blob(pieces).stream();
    const streamed = await fetch(`${url}/execute`, { method: 'POST', body, duplex: 'half' } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  it('survives requests that are no HTTP, and clients that leave in the middle', async () => {
    const url = new URL(await serve(new HeldGuest('d')));
    const { connect } = await import('node:net');
    const junk = connect(Number(url.port), url.hostname);
    junk.end('\0\0junk\r\n\r\n');
    const [data] = await once(junk, 'data');
    expect(String(data)).toContain('400 Bad Request');
    const half = connect(Number(url.port), url.hostname);
    await once(half, 'connect');
    half.write('POST /execute HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{"comm');
    half.destroy();
    const head = await fetch(`${url.origin}/screenshot`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '2']);
    const allowed = await fetch(`${url.origin}/execute`, { method: 'PUT' });
    expect([allowed.status, allowed.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('gives code that is no list of calls to the Python of the desktop', async () => {
    const guest = new HeldGuest('d');
    const codes: string[] = [];
    guest.runPython = async (code) => {
      codes.push(code);
      return { output: 'from Python\n', error: '', returncode: 0 };
    };
    const url = await serve(guest);
    for (const code of ['[pyautogui.click(i, 1) for i in [1]]', 'print(1)', 'import pyperclip; pyperclip.copy("x")']) {
      expect(await (await play(url, code)).json()).toMatchObject({ output: 'from Python\n', returncode: 0 });
    }
    expect([codes.length, guest.log]).toEqual([3, []]);
    await play(url, 'import pyperclip; pyperclip.copy("ü"); pyautogui.hotkey("ctrl", "v")');
    expect([codes.length, guest.log]).toEqual([3, ['type ']]);
  });
});
