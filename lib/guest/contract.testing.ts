import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asker, asker, type Capability, type ServedGuest, until } from './contract_asker.testing.ts';
import { programContract } from './contract_programs.testing.ts';
import { refusals } from './contract_refusals.testing.ts';
import { typingContract } from './contract_typing.testing.ts';

export type { Capability, ServedGuest } from './contract_asker.testing.ts';

export interface ContractOptions {
  lacks?: readonly Capability[];
  /** For one check, ms. */
  timeoutMs?: number;
}

/**
 * The contract of a guest's server: every endpoint of OSWorld's (reference/osworld.md §1) with its request, the shape
 * of its answer and its statuses. `connect` is called once; the desktop should be fresh.
 */
export function describeGuestServer(
  name: string,
  connect: () => Promise<ServedGuest>,
  { lacks = [], timeoutMs = 120_000 }: ContractOptions = {},
): void {
  describe(`${name} answers as OSWorld's server`, { timeout: timeoutMs }, () => {
    let served: ServedGuest;
    beforeAll(async () => {
      served = await connect();
    }, timeoutMs);
    afterAll(async () => served?.close?.());
    const ask = asker(() => served);
    const has = (capability: Capability) => !lacks.includes(capability);

    refusals(ask);
    screenContract(ask);
    fileContract(ask, has);
    programContract(ask, has);
    windowContract(ask, has);
    typingContract(ask, has);
    recordingContract(ask, has);
    if (has('reset'))
      it('goes back to a clean state', async () => {
        const path = `${await ask.folder()}/of the last task`;
        await ask.upload(path, 'x');
        expect((await ask.post('/reset', { seed: 3 })).json).toEqual({ status: 'success' });
        expect((await ask.post('/file', new URLSearchParams({ file_path: path }))).status).toBe(404);
        expect((await ask.get('/screenshot')).status).toBe(200);
      });
  });
}

function screenContract(ask: Asker): void {
  it('shows its screen as a PNG of its size', async () => {
    const size = (await ask.post('/screen_size')).json;
    expect(size).toEqual({ width: expect.any(Number), height: expect.any(Number) });
    const shot = await ask.get('/screenshot');
    expect([shot.status, shot.type]).toEqual([200, 'image/png']);
    expect([...shot.bytes.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
    const header = new DataView(shot.bytes.buffer);
    expect([header.getUint32(16), header.getUint32(20)]).toEqual([size.width, size.height]);
  });

  it('tells its accessibility tree as XML, its terminal, its platform and its desktop folder', async () => {
    const tree = await until(
      () => ask.get('/accessibility'),
      ({ status }) => status === 200,
    );
    expect(tree.json.AT).toMatch(/<desktop-frame [^>]*xmlns:cp="https:\/\/accessibility\.ubuntu\.example\.org\/ns\//);
    const terminal = (await ask.get('/terminal')).json;
    expect(terminal).toEqual({ output: terminal.output, status: 'success' });
    expect(terminal.output === null || typeof terminal.output === 'string').toBe(true);
    expect((await ask.get('/platform')).text).toBe('Linux');
    expect((await ask.post('/desktop_path')).json).toEqual({
      desktop_path: expect.stringMatching(/^\/.*\/Desktop$/),
    });
  });

  it('knows where the pointer is', async () => {
    const code = 'import pyautogui; import time; pyautogui.FAILSAFE = False; pyautogui.moveTo(33, 44)';
    await ask.post('/execute', { command: ['python', '-c', code], shell: false });
    expect((await ask.get('/cursor_position')).json).toEqual([33, 44]);
  });
}

function fileContract(ask: Asker, has: (capability: Capability) => boolean): void {
  const file = (path: string) => ask.post('/file', new URLSearchParams({ file_path: path }));

  it('keeps files as they were uploaded, and makes their folders', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) & 255);
    const path = `${await ask.folder()}/new folder/ü & <x>.bin`;
    expect(await ask.upload(path, bytes)).toMatchObject({ status: 200, text: 'File Uploaded: 70000 bytes' });
    const back = await file(path);
    expect(back.status).toBe(200);
    expect(Buffer.compare(back.bytes, bytes)).toBe(0);
    expect(await ask.upload(path, '')).toMatchObject({ status: 200 });
    expect((await file(path)).bytes.length).toBe(0);
    expect((await file(`${await ask.folder()}/nothing`)).status).toBe(404);
  });

  it('lists folders', async () => {
    const folder = `${await ask.folder()}/listed`;
    await ask.upload(`${folder}/a.txt`, 'a');
    await ask.upload(`${folder}/inner/b.txt`, 'b');
    const { status, json } = await ask.post('/list_directory', { path: folder });
    const tree = json.directory_tree;
    tree.children.sort((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1));
    expect(status).toBe(200);
    expect(tree).toEqual({
      type: 'directory',
      name: 'listed',
      children: [
        { type: 'file', name: 'a.txt' },
        { type: 'directory', name: 'inner', children: [{ type: 'file', name: 'b.txt' }] },
      ],
    });
    expect((await ask.post('/list_directory', { path: `${folder}/a.txt` })).status).toBe(400);
  });

  it('shows the picture behind the windows, and takes another where it can', async () => {
    const before = await ask.post('/wallpaper');
    expect([200, 404]).toContain(before.status);
    if (before.status === 200) expect(before.type).toMatch(/^image\//);
    const path = `${await ask.folder()}/wall.png`;
    const shot = (await ask.get('/screenshot')).bytes;
    expect((await ask.post('/setup/change_wallpaper', { path })).status).toBe(404);
    await ask.upload(path, shot);
    const changed = await ask.post('/setup/change_wallpaper', { path });
    expect(changed.status).toBe(has('wallpaper') ? 200 : 500);
    if (has('wallpaper')) expect(Buffer.compare((await ask.post('/wallpaper')).bytes, shot)).toBe(0);
  });

  it('downloads where it has a network', async () => {
    const { url, ownUrl = url, token } = ask.served();
    const path = `${await ask.folder()}/fetched`;
    const from = `${token === undefined ? ownUrl : ownUrl.replace('://', `://:${token}@`)}/platform`;
    const answer = await ask.post('/setup/download_file', { url: from, path });
    if (!has('download')) return expect(answer.status).toBe(500);
    expect(answer).toMatchObject({ status: 200, text: 'File downloaded successfully: 5 bytes' });
    expect((await file(path)).text).toBe('Linux');
  });
}

function windowContract(ask: Asker, has: (capability: Capability) => boolean): void {
  it('finds no window that is not there', async () => {
    expect((await ask.post('/window_size', new URLSearchParams({ app_class_name: 'no-such-class' }))).status).toBe(500);
    expect((await ask.post('/setup/activate_window', { window_name: 'no such window' })).status).toBe(200);
    expect((await ask.post('/setup/close_window', { window_name: 'no such window', by_class: true })).status).toBe(200);
  });

  if (has('editor'))
    it('opens a file, and finds and closes its window', async () => {
      const path = `${await ask.folder()}/window.txt`;
      await ask.upload(path, 'text\n');
      expect((await ask.post('/setup/open_file', { path })).status).toBe(200);
      const windows = async () => (await ask.get('/windows')).json as { title: string; wm_class: string }[];
      const ours = async () => (await windows()).find(({ title }) => title.includes('window.txt'));
      const window = await until(ours, (found) => found !== undefined);
      const name = window!.wm_class.split('.').pop()!;
      expect((await ask.post('/window_size', new URLSearchParams({ app_class_name: name }))).json).toEqual({
        width: expect.any(Number),
        height: expect.any(Number),
      });
      const verification = { window_exists: 'WINDOW.txt', command_success: 'true' };
      const verified = await ask.post('/setup/execute_with_verification', { command: ['true'], verification });
      expect(verified).toMatchObject({ status: 200, json: { verification: 'passed', wait_time: expect.any(Number) } });
      const tree = async () => String((await ask.get('/accessibility')).json.AT);
      const xml = await until(tree, (text) => text.includes('window.txt'));
      expect(xml).toContain('window.txt');
      expect(xml).toMatch(/cp:screencoord="\(\d+, \d+\)"/);
      expect(xml).toMatch(/cp:size="\(\d+, \d+\)"/);
      expect(xml).toMatch(/st:showing="true"/);
      expect((await ask.post('/setup/activate_window', { window_name: 'window.txt' })).status).toBe(200);
      expect((await ask.post('/setup/close_window', { window_name: 'window.txt' })).status).toBe(200);
      expect(await until(ours, (found) => found === undefined)).toBeUndefined();
    });
}

function recordingContract(ask: Asker, has: (capability: Capability) => boolean): void {
  it('records its screen, once at a time, or says that it cannot', async () => {
    expect((await ask.post('/end_recording')).status).toBe(400);
    const started = await ask.post('/start_recording');
    if (!has('recording')) {
      expect(started).toMatchObject({ status: 500, json: { status: 'error', message: expect.any(String) } });
      expect((await ask.post('/end_recording')).status).toBe(400);
      return;
    }
    expect(started).toMatchObject({ status: 200, json: { status: 'success' } });
    expect((await ask.post('/start_recording')).status).toBe(400);
    const video = await ask.post('/end_recording');
    expect([video.status, Buffer.from(video.bytes.subarray(4, 8)).toString()]).toEqual([200, 'ftyp']);
    expect((await ask.post('/end_recording')).status).toBe(400);
  });
}
