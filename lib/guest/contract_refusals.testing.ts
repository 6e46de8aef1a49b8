import { describe, expect, it } from 'vitest';
import type { Asker } from './contract_asker.testing.ts';

const GET = ['/screenshot', '/accessibility', '/terminal', '/platform', '/cursor_position'];
const POST = [
  ...['/execute', '/setup/execute', '/execute_with_verification', '/setup/execute_with_verification'],
  ...['/run_python', '/run_bash_script', '/setup/launch', '/setup/upload', '/file', '/list_directory'],
  ...['/setup/open_file', '/setup/download_file', '/setup/change_wallpaper', '/wallpaper', '/screen_size'],
  ...['/setup/activate_window', '/setup/close_window', '/window_size', '/desktop_path'],
  ...['/start_recording', '/end_recording'],
];

/** Path, body, status: requests that say too little or make no sense. */
const BAD: [string, Record<string, unknown>, number][] = [
  ['/execute', {}, 400],
  ['/execute', { command: [] }, 400],
  ['/execute', { command: 7 }, 400],
  ['/execute', { command: ['echo', 7] }, 400],
  ['/execute', { command: 'echo "open', shell: false }, 400],
  ['/execute', { command: ['true'], timeout: 'long' }, 400],
  ['/execute', { command: ['true'], timeout: -1 }, 400],
  ['/execute_with_verification', { command: ['true'], verification: 'yes' }, 400],
  ['/execute_with_verification', { command: ['true'], verification: { window_exists: 1 } }, 400],
  ['/run_python', {}, 400],
  ['/run_python', { code: '' }, 400],
  ['/run_bash_script', {}, 400],
  ['/run_bash_script', { script: 'true', working_dir: '/no/such/folder' }, 400],
  ['/setup/launch', {}, 400],
  ['/setup/launch', { command: ['no-such-program-here'] }, 500],
  ['/setup/upload', { file_path: '/tmp/x' }, 400],
  ['/file', {}, 400],
  ['/file', { file_path: '/no/such/file' }, 404],
  ['/list_directory', {}, 400],
  ['/list_directory', { path: '/no/such/folder' }, 400],
  ['/setup/open_file', {}, 400],
  ['/setup/open_file', { path: '/no/such/file' }, 404],
  ['/setup/download_file', { url: 'http://127.0.0.1/' }, 400],
  ['/setup/download_file', { url: 'file:///etc/passwd', path: '/tmp/x' }, 400],
  ['/setup/change_wallpaper', {}, 400],
  ['/setup/change_wallpaper', { path: '/no/such/file' }, 404],
  ['/setup/activate_window', {}, 400],
  ['/setup/close_window', {}, 400],
  ['/window_size', {}, 400],
  ['/nothing', {}, 404],
  ['/__proto__', {}, 404],
];

/** What every server refuses, whatever is behind it. */
export function refusals(ask: Asker): void {
  it.each(BAD)('POST %s %j gets %i and a reason', async (path, body, status) => {
    const answer = await ask.post(path, body);
    expect([answer.status, answer.json.status]).toEqual([status, 'error']);
    expect(answer.json.message).toMatch(/\w/);
  });

  describe('methods', () => {
    it.each([...GET.map((path) => ['POST', path, 'GET']), ...POST.map((path) => ['GET', path, 'POST'])])(
      '%s %s gets 405, %s is allowed',
      async (method, path) => {
        expect((await ask.fetch(path, { method })).status).toBe(405);
      },
    );
  });

  it.each([
    ['no JSON', '{"command": ', 'application/json'],
    ['JSON that is no object', '["ls"]', 'application/json'],
    ['no UTF-8', new Uint8Array([123, 34, 255, 34, 125]), 'application/json'],
    ['a form without its boundary', 'command=ls', 'multipart/form-data'],
  ])('a body that is %s gets 400', async (_, body, type) => {
    const answer = await ask.fetch('/execute', { method: 'POST', body, headers: { 'content-type': type } });
    expect([answer.status, answer.json.status]).toEqual([400, 'error']);
  });
}
