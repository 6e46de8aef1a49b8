import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { createEmbeddedGuest, type EmbeddedGuest } from '../../lib/desktop/guest.ts';
import { type GuestServer, serveGuest } from '../../lib/guest/http_server.ts';
import { spec } from './spec.ts';

let dir = '';
let guest: EmbeddedGuest;
let server: GuestServer;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dart-act-'));
  guest = createEmbeddedGuest('served');
  server = await serveGuest(guest);
});
afterAll(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

async function env(...args: string[]) {
  const io = testIo({ cwd: dir });
  const code = await runCommand(spec, args, io);
  return { ...io, code };
}

const now = async () => Buffer.from((await guest.screenshot()).png());

describe('dart-env screenshot', () => {
  it('saves what the desktop shows', async () => {
    const { code, err, records } = await env('screenshot', server.url, '-o', 'shots/one.png');
    expect([code, err()]).toEqual([0, '']);
    expect(readFileSync(join(dir, 'shots/one.png')).equals(await now())).toBe(true);
    expect(records()).toMatchObject([
      { event: 'screenshot', desktop: server.url, path: 'shots/one.png', width: 160, height: 120 },
      { type: 'summary', command: 'dart-env screenshot' },
    ]);
  });

  it('shows a fresh embedded desktop in the state of a seed', async () => {
    await guest.reset(3);
    for (const seed of ['3', '4']) await env('screenshot', 'embedded', '--seed', seed, '-o', `${seed}.png`);
    expect(readFileSync(join(dir, '3.png')).equals(await now())).toBe(true);
    expect(readFileSync(join(dir, '4.png')).equals(await now())).toBe(false);
  });

  it.each([
    [['nowhere', '-o', 'x.png'], '"nowhere" is no desktop. Try: its server_url, http://127.0.0.1:5000'],
    [['http://127.0.0.1:9', '-o', 'x.png'], '/screen_size failed'],
    [['http://127.0.0.1:9'], '--output'],
    [[], 'DESKTOP is missing'],
  ])('%j: says %s', async (args, message) => {
    const { code, out, err } = await env('screenshot', ...args);
    expect([code, out()]).toEqual([2, '']);
    expect(err()).toContain(message);
    expect(err()).not.toContain('bug in the toolkit');
  });
});

describe('dart-env act', () => {
  it('says that a point is not on the screen', async () => {
    const { code, err } = await env('act', server.url, 'click(160,50)', 'click(159,119)');
    expect([code, err()]).toEqual([
      0,
      expect.stringMatching(/^[^\n]*click\(160,50\) points beyond the screen of 160x120: its edge is taken\n$/),
    ]);
  });

  it('plays actions in order and shows what came of it', async () => {
    await guest.reset(3);
    await guest.launch(['gnome-terminal']);
    const args = ['move(120,48)', "Action: type(content='echo hi')", 'hotkey(enter)', '--screenshot', 'after.png'];
    const { code, err, records } = await env('act', server.url, ...args);
    expect([code, err()]).toEqual([0, '']);
    expect(records()).toMatchObject([
      { event: 'action', action: { type: 'move', x: 120, y: 48 } },
      { event: 'action', action: { type: 'type', text: 'echo hi' } },
      { event: 'action', action: { type: 'hotkey', keys: ['enter'] } },
      { event: 'screenshot', path: 'after.png' },
      { type: 'summary', actions: 3 },
    ]);
    expect(await guest.terminalOutput()).toContain('\nhi\n');
    expect(await (await fetch(`${server.url}/cursor_position`)).json()).toEqual([120, 48]);
    expect(readFileSync(join(dir, 'after.png')).equals(await now())).toBe(true);
  });

  it('plays nothing when one of them cannot be read', async () => {
    const before = await now();
    const { code, out, err } = await env('act', server.url, 'click(8,8)', 'klick(8,8)');
    expect([code, out()]).toEqual([2, '']);
    expect(err()).toContain('klick(8,8): unknown action "klick". Try: click(120,48)');
    expect((await now()).equals(before)).toBe(true);
  });
});
