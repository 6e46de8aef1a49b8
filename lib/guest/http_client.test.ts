import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { guestAddress } from './http_address.ts';
import { readWindowList } from './http_answers.ts';
import { HttpGuest } from './http_client.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server that answers what a test says; `seen` has the paths that were asked for. */
class FakeServer {
  readonly seen: string[] = [];
  readonly sockets = new Set<unknown>();
  answers: Record<string, Answer> = { '/screen_size': (_, response) => response.end('{"width":10,"height":5}') };
  private readonly server: Server;

  constructor() {
    this.server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const path = request.url ?? '';
      this.seen.push(path);
      this.sockets.add(request.socket);
      const answer = this.answers[path];
      if (answer) answer(request, response, body);
      else response.writeHead(404).end('<html>no such page</html>');
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  times(path: string): number {
    return this.seen.filter((each) => each === path).length;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

let fake: FakeServer;
afterEach(() => fake.stop());

async function connected(options = {}): Promise<{ guest: HttpGuest; url: string }> {
  fake = new FakeServer();
  const url = await fake.start();
  return { url, guest: await HttpGuest.connect(url, { id: 'd7', tries: 3, retryDelayMs: 1, ...options }) };
}

const busy: Answer = (_, response) => response.writeHead(500).end('{"status":"error","message":"busy"}');
const die: Answer = (request) => request.socket.destroy();

describe('HttpGuest', () => {
  it('tries again what can be repeated, and never an action that may have been played', async () => {
    const { guest, url } = await connected();
    expect(guest.screen).toEqual({ width: 10, height: 5 });
    fake.answers = { '/execute': busy, '/screenshot': busy, '/accessibility': die };
    // It answered, and says why: it is up.
    await expect(guest.act({ type: 'click', x: 1, y: 1 })).rejects.toMatchObject({
      ...{ message: 'POST /execute failed: status 500: busy', hint: undefined },
    });
    expect(fake.times('/execute')).toBe(1);
    await expect(guest.screenshot()).rejects.toMatchObject({ where: `d7 (${url})` });
    expect(fake.times('/screenshot')).toBe(3);
    await expect(guest.accessibility()).rejects.toMatchObject({
      message: expect.stringContaining('the desktop went away before it answered'),
      hint: 'whether the desktop is up: GET /screenshot',
    });
    expect(fake.times('/accessibility')).toBe(3);
    fake.answers['/execute'] = die;
    await expect(guest.act({ type: 'click', x: 1, y: 1 })).rejects.toMatchObject({
      message: expect.stringContaining('the desktop went away before it answered'),
      hint: 'another desktop: nobody knows whether this one still did it',
    });
    expect(fake.times('/execute')).toBe(2);
    await expect(guest.setWallpaper('/x')).rejects.toThrow('status 404: <html>no such page</html>');
    await expect(guest.terminalOutput()).rejects.toMatchObject({
      cause: { status: 404, message: expect.stringMatching(/^status 404: /) },
    });
    expect([fake.times('/setup/change_wallpaper'), fake.times('/terminal')]).toEqual([1, 1]);
  });

  it('repeats an action where nobody had been there to get it', async () => {
    const { url } = await connected();
    await fake.stop();
    const refused = HttpGuest.connect(url, { tries: 2, retryDelayMs: 1 });
    await expect(refused).rejects.toThrow(DartError);
    await expect(refused).rejects.toMatchObject({
      where: url,
      message: expect.stringContaining('nobody answers there'),
    });
  });

  it('asks again for half an answer and for a picture that is none', async () => {
    const { guest } = await connected();
    let asked = 0;
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
      'base64',
    );
    fake.answers['/screenshot'] = (request, response) => {
      asked++;
      if (asked === 1) return void response.end('<html>booting</html>');
      response.writeHead(200, { 'content-length': png.length });
      if (asked === 3) return void response.end(png);
      response.write(png.subarray(0, 20), () => request.socket.destroy());
    };
    expect(await guest.screenshot()).toMatchObject({ width: 1, height: 1 });
    expect(asked).toBe(3);
    fake.answers['/end_recording'] = (request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => request.socket.destroy());
    };
    await expect(guest.endRecording()).rejects.toThrow('the desktop went away in the middle of its answer');
    expect(fake.times('/end_recording')).toBe(1);
  });

  it('says that an answer took too long, and when the run was stopped', async () => {
    const stop = new AbortController();
    const { guest } = await connected({ tries: 1, signal: stop.signal });
    fake.answers['/run_python'] = () => stop.abort();
    await expect(guest.runPython('x')).rejects.toThrow(/went away|stopped/);
    await expect(guest.platform()).rejects.toThrow('the run was stopped');
  });

  it('keeps its connection', async () => {
    const { guest } = await connected();
    fake.answers['/platform'] = (_, response) => response.end('Linux\n');
    for (let i = 0; i < 5; i++) expect(await guest.platform()).toBe('Linux');
    expect([fake.seen.length, fake.sockets.size]).toEqual([6, 1]);
  });

  it('sends the token of its URL and never shows it', async () => {
    fake = new FakeServer();
    const seen = new Set<string | undefined>();
    fake.answers['/screen_size'] = (request, response) => {
      seen.add(request.headers.authorization);
      response.end('{"width":10,"height":5}');
    };
    const url = (await fake.start()).replace('://', '://:s3cr%25t@');
    const guest = await HttpGuest.connect(url, { tries: 1 });
    expect([...seen]).toEqual(['Bearer s3cr%t']);
    fake.answers['/platform'] = (_, response) => response.writeHead(401).end('{"message":"wrong"}');
    const refused: unknown = await guest.platform().catch((error: unknown) => error);
    expect(refused).toMatchObject({ hint: "the desktop's token in its URL: http://:TOKEN@HOST:PORT" });
    expect(`${guest.id} ${guest.url} ${(refused as DartError).describe()}`).not.toContain('s3cr');
  });

  it('understands what OSWorld’s server answers', async () => {
    const { guest } = await connected();
    const json =
      (value: unknown): Answer =>
      (_, response) =>
        void response.end(JSON.stringify(value));
    fake.answers = {
      '/execute': (_, response, body) => {
        const { command, timeout } = JSON.parse(body);
        const list = '0x01 -1 gnome-shell.Gnome-shell host\n0x2a  0 gimp.Gimp-2.10 host a  picture.png\n';
        const output = command[0] === 'wmctrl' ? list : `${JSON.stringify(command)} ${timeout}`;
        response.end(JSON.stringify({ status: 'success', output, error: 'e', returncode: 4 }));
      },
      '/run_python': json({ status: 'error', message: 'm', output: null, error: 'boom', return_code: 1 }),
      '/list_directory': json({
        directory_tree: { type: 'directory', name: 'a', children: [{ error: 'denied' }, { type: 'file', name: 'b' }] },
      }),
      '/window_size': (_, response) => response.writeHead(500).end('<html>TypeError</html>'),
      '/cursor_position': json([3, 4]),
      '/desktop_path': json({ desktop_path: '/home/user/Desktop' }),
    };
    expect(await guest.runBash('ls', { workingDir: "/it's", timeoutMs: 2000 })).toEqual({
      output: `["bash","-c","cd '/it'\\\\''s' || exit 1\\nls"] 2e`,
      error: '',
      returncode: 4,
    });
    expect(await guest.runPython('x')).toEqual({ output: '', error: 'boom', returncode: 1 });
    expect(await guest.listDirectory('/a')).toEqual({
      ...{ type: 'directory', name: 'a', children: [{ type: 'file', name: 'b' }] },
    });
    expect(await guest.windows()).toEqual([
      { title: '', wmClass: 'gnome-shell.Gnome-shell' },
      { title: 'a  picture.png', wmClass: 'gimp.Gimp-2.10' },
    ]);
    expect(await guest.windowSize('gimp')).toBeNull();
    expect([await guest.wallpaper(), await guest.readFile('/x')]).toEqual([null, null]);
    expect([await guest.cursorPosition(), await guest.desktopPath()]).toEqual([[3, 4], '/home/user/Desktop']);
    fake.answers['/cursor_position'] = json({ x: 3 });
    await expect(guest.cursorPosition()).rejects.toThrow("the answer to /cursor_position is not what OSWorld's server");
  });
});

describe('guestAddress', () => {
  it.each([
    ['http://h:5000/', { url: 'http://h:5000' }],
    ['https://h/a/', { url: 'https://h/a' }],
    ['http://:t@h:1', { url: 'http://h:1', authorization: 'Bearer t' }],
    ['http://t@h:1', { url: 'http://h:1', authorization: 'Bearer t' }],
    ['http://u:t@h:1', { url: 'http://h:1', authorization: `Basic ${Buffer.from('u:t').toString('base64')}` }],
  ])('reads %s', (text, address) => {
    fake = new FakeServer();
    expect(guestAddress(text)).toEqual(address);
  });

  it('refuses what is no URL, and does not show its token', () => {
    fake = new FakeServer();
    expect(() => guestAddress('ftp://:t0ken@h')).toThrow('"ftp://h" is no URL of a desktop');
  });
});

it('reads no windows from nothing', () => {
  fake = new FakeServer();
  expect(readWindowList('Cannot open display.\n')).toEqual([]);
});
