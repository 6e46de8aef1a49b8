import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import type { Action, ResettableGuest } from '../guest/guest.ts';
import { connectResettable, HttpGuest } from '../guest/http_client.ts';
import { type GuestServer, serveGuest } from '../guest/http_server.ts';
import { createEmbeddedGuest } from './guest.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
let server: GuestServer;
let remote: ResettableGuest;

beforeAll(async () => {
  server = await serveGuest(createEmbeddedGuest('served'));
  remote = await connectResettable(server.url, { id: 'd1', tries: 1 });
});
afterAll(() => server.close());

/** Everything that can be asked of a guest, as plain data. */
async function askAll(guest: ResettableGuest): Promise<unknown[]> {
  await guest.reset(1_000_003);
  await guest.writeFile('/home/user/Documents/list.csv', bytes('name,qty\nfig,2\n<&>"é,1\n'));
  await guest.openFile('/home/user/Documents/list.csv');
  const actions: Action[] = [
    { type: 'click', x: 60, y: 60 },
    { type: 'type', text: 'a<b "c" \\ é\n7' },
    { type: 'hotkey', keys: ['ctrl', 's'] },
    { type: 'right_click', x: 5, y: 5 },
    { type: 'hotkey', keys: ['esc'] },
    { type: 'scroll', x: 80, y: 60, direction: 'down', amount: 2 },
    { type: 'drag', x: 80, y: 60, to_x: 90, to_y: 60 },
    { type: 'finished' },
  ];
  const answers: unknown[] = [guest.screen];
  for (const action of actions) {
    await guest.act(action);
    const frame = await guest.screenshot();
    answers.push([frame.width, frame.height, Buffer.from(frame.rgb()).toString('base64')]);
    answers.push(Buffer.from(frame.png()).toString('base64'));
  }
  answers.push(await guest.accessibility());
  answers.push(await guest.execute('ls Documents | wc -l'), await guest.execute(['cat', '/nowhere']));
  await guest.launch(['gnome-terminal']);
  await guest.act({ type: 'type', text: 'echo hi\n' });
  answers.push(await guest.terminalOutput());
  await guest.activateWindow('Calc');
  answers.push(await guest.terminalOutput(), await guest.readFile('/home/user/Documents/list.csv'));
  await guest.closeWindow('list.csv');
  answers.push(
    await guest.readFile('/nowhere'),
    (await guest.accessibility()).children.map((c) => c.name),
  );
  return answers;
}

describe('a desktop over HTTP', () => {
  it('answers as the same desktop in process does', async () => {
    const local = await askAll(createEmbeddedGuest('local'));
    expect(await askAll(remote)).toEqual(local);
  });

  it('scrolls as far as in process, also where the action does not say how far', async () => {
    const scrolled = async (guest: ResettableGuest, amount?: number) => {
      await guest.reset(1_000_003);
      await guest.launch(['vlc']);
      await guest.act({ type: 'scroll', x: 100, y: 60, direction: 'down', amount });
      return Buffer.from((await guest.screenshot()).rgb()).toString('base64');
    };
    const local = createEmbeddedGuest('local');
    const far = await scrolled(local);
    expect(await scrolled(remote)).toBe(far);
    expect(await scrolled(remote, 1)).toBe(await scrolled(local, 1));
    expect(await scrolled(local, 1)).not.toBe(far);
  });

  it('speaks to other clients of OSWorld servers', async () => {
    await remote.reset(1);
    const post = (path: string, body: unknown) =>
      fetch(server.url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
    const run = await post('/execute', {
      command: ['python', '-c', 'import pyautogui; pyautogui.moveTo(3, 4)'],
      shell: false,
    });
    expect(await run.json()).toEqual({ status: 'success', output: '', error: '', returncode: 0 });
    expect(await (await fetch(`${server.url}/cursor_position`)).json()).toEqual([3, 4]);
    const bad = await post('/execute', { command: ['python', '-c', 'import pyautogui; pyautogui.nothing()'] });
    expect(bad.status).toBe(200);
    expect(await bad.json()).toMatchObject({ status: 'success', returncode: 1 });
    const script = await post('/run_bash_script', { script: 'echo a; cat b' });
    expect(await script.json()).toMatchObject({ output: 'a\ncat: b: No such file or directory\n', returncode: 1 });
    expect((await post('/file', { file_path: '/nowhere' })).status).toBe(404);
    expect((await post('/setup/open_file', { path: '/nowhere' })).status).toBe(404);
    expect((await post('/execute', {})).status).toBe(400);
    expect((await post('/nothing', {})).status).toBe(404);
    expect((await fetch(`${server.url}/execute`, { method: 'POST', body: '{' })).status).toBe(400);
    expect(await (await fetch(`${server.url}/platform`)).text()).toBe('Linux');
    const shot = await fetch(`${server.url}/screenshot`);
    expect([shot.headers.get('content-type'), shot.status]).toEqual(['image/png', 200]);
  });
});

describe('HttpGuest', () => {
  it('tries again what can be repeated, and never an action that may have been played', async () => {
    const seen: string[] = [];
    const flaky = createServer((request, response) => {
      seen.push(request.url ?? '');
      if (request.url === '/screen_size' && seen.length > 1) response.end('{"width":10,"height":5}');
      else response.writeHead(500).end('{"status":"error","message":"busy"}');
    });
    await new Promise<void>((resolve) => flaky.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(flaky.address() as AddressInfo).port}`;
    const guest = await HttpGuest.connect(url, { id: 'd7', tries: 3, retryDelayMs: 1 });
    expect([guest.screen, seen]).toEqual([{ width: 10, height: 5 }, ['/screen_size', '/screen_size']]);
    await expect(guest.act({ type: 'click', x: 1, y: 1 })).rejects.toThrow('POST /execute failed: status 500: busy');
    expect(seen.filter((path) => path === '/execute')).toHaveLength(1);
    await expect(guest.screenshot()).rejects.toMatchObject({ where: `d7 (${url})` });
    expect(seen.filter((path) => path === '/screenshot')).toHaveLength(3);
    await new Promise((resolve) => flaky.close(resolve));
    await expect(HttpGuest.connect(url, { tries: 1 })).rejects.toThrow(/ECONNREFUSED|UND_ERR_SOCKET/);
    await expect(HttpGuest.connect(url, { tries: 1 })).rejects.toThrow(DartError);
  });
});
