import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DirectoryTree } from '../../guest/guest.ts';
import { BRIDGED } from '../check.ts';
import { contextOf, type FetchedFile, isFile } from '../context.ts';
import { GETTERS } from '../evaluate.ts';
import { Fields } from '../fields.ts';
import { FakeGuest } from '../guest.testing.ts';
import { todayIn } from '../relative_time.ts';
import { normaliseTask } from '../task.ts';
import { Unsupported } from '../unsupported.ts';
import { browserGetters } from './browser.ts';
import { officeGetters } from './office.ts';

const task = normaliseTask({ id: 't1', instruction: 'do it', evaluator: { func: 'infeasible' } }, 'x');
/** What each getter gave in the tests of this file: a value, or nothing (null, or an error). */
const given = new Map<string, Set<'value' | 'nothing'>>();

async function get(type: string, guest: FakeGuest, config: object = {}, cache = new Map<string, Uint8Array>()) {
  const getter = GETTERS.get(type);
  if (getter === undefined) throw new Error(`no getter ${type}`);
  const context = contextOf(task, guest, { cache, protocol: { sleepScale: 0 } });
  const outcome = (what: 'value' | 'nothing') => given.set(type, (given.get(type) ?? new Set()).add(what));
  try {
    const value = await getter(new Fields(type, 't1', config), context);
    outcome(value === null || value === undefined ? 'nothing' : 'value');
    return show(value);
  } catch (error) {
    outcome('nothing');
    throw error;
  }
}

/** Files as `name: text`. */
function show(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(show);
  return isFile(value) ? `${value.name}: ${new TextDecoder().decode(value.bytes)}` : value;
}

describe('file getters', () => {
  it('vm_file: one file, a missing one, several', async () => {
    const guest = new FakeGuest().put('/d/a.txt', 'A').put('/d/b.txt', 'B');
    expect(await get('vm_file', guest, { path: '/d/a.txt', dest: 'x' })).toBe('a.txt: A');
    expect(await get('vm_file', guest, { path: '/d/none' })).toBeNull();
    const path = ['/d/a.txt', '/d/b.txt', '/d/none'];
    expect(await get('vm_file', guest, { multi: 'true', path })).toBe('a.txt: A');
    expect(await get('vm_file', guest, { multi: true, path, gives: [1, 2] })).toEqual(['b.txt: B', null]);
  });

  it('vm_file brings the files beside the one that it gives, by their names in the task', async () => {
    const guest = new FakeGuest().put('/d/a.txt', 'A').put('/d/b.txt', 'B');
    const config = { type: 'vm_file', multi: true, path: ['/d/a.txt', '/d/b.txt', '/d/none'], dest: ['x', 'y', 'z'] };
    const context = contextOf(task, guest, {});
    const file = (await GETTERS.get('vm_file')!(new Fields('vm_file', 't1', config), context)) as FetchedFile;
    expect([show(file), file.beside?.map(show)]).toEqual(['x: A', ['y: B']]);
  });

  it('cloud_file and inline_file bring what the task carries', async () => {
    expect(await get('cloud_file', new FakeGuest(), { path: 'data:,hi' })).toBe('data:,hi: hi');
    expect(await get('inline_file', new FakeGuest(), { content: 'hi\n' })).toBe('expected.txt: hi\n');
    const noFolder = get('cloud_file', new FakeGuest(), { path: 'https://x.test/a' });
    await expect(noFolder).rejects.toThrow('no assets folder to take https://x.test/a');
    await expect(get('inline_file', new FakeGuest())).rejects.toThrow('content should be a string, but is missing');
  });

  it('cache_file brings what a step kept', async () => {
    const cache = new Map([['a.out', Buffer.from('kept')]]);
    expect(await get('cache_file', new FakeGuest(), { path: 'a.out' }, cache)).toBe('a.out: kept');
    await expect(get('cache_file', new FakeGuest(), { path: 'none' }, cache)).rejects.toThrow('none');
  });

  it('content_from_vm_file reads the last row of a csv', async () => {
    const guest = new FakeGuest().put('/a.csv', 'name,qty\npear,3\n');
    const config = { path: '/a.csv', file_type: 'csv', file_content: 'last_row' };
    expect(await get('content_from_vm_file', guest, config)).toEqual(['pear', '3']);
    const other = get('content_from_vm_file', guest, { ...config, file_type: 'docx' });
    await expect(other).rejects.toThrow('last_row of a docx file is not supported');
  });

  it('content_from_vm_file reads the last row of a workbook as pandas shows it', async () => {
    const folder = join(import.meta.dirname, '../../../fixtures/documents/sheets');
    const read = (name: string) => {
      const guest = new FakeGuest();
      guest.files.set('/a.xlsx', readFileSync(join(folder, name)));
      return get('content_from_vm_file', guest, { path: '/a.xlsx', file_type: 'xlsx', file_content: 'last_row' });
    };
    expect(await read('data.xlsx')).toEqual(['Dora', '4', '0.12345', 'False', '2024-01-05 00:00:00', '8']);
    expect(await read('charts.xlsx')).toEqual(['Apr', '6', '3']);
    expect(await read('cities.xlsx')).toEqual(['nan', 'nan', 'City 21']);
    expect(await read('golden.json')).toBeNull();
  });

  it('list_directory brings what the guest lists', async () => {
    const guest = new FakeGuest();
    const tree: DirectoryTree = { type: 'directory', name: 'd', children: [{ type: 'file', name: 'a.txt' }] };
    guest.listDirectory = async (path) => (path === '/d/' ? tree : null);
    expect(await get('list_directory', guest, { path: '/d/' })).toEqual(tree);
    await expect(get('list_directory', guest, { path: '/none' })).rejects.toThrow('/none');
  });
});

describe('general getters', () => {
  it('rule, commands, terminal, tree, screen', async () => {
    const guest = new FakeGuest();
    guest.outputs.set('date -u', { output: 'now\n', error: 'odd' });
    guest.terminal = '$ ls\n';
    expect(await get('rule', guest, { rules: { a: 1 } })).toEqual({ a: 1 });
    expect(await get('vm_command_line', guest, { command: 'date -u', shell: 'true' })).toBe('now\n');
    expect(await get('vm_command_error', guest, { command: ['date', '-u'] })).toBe('odd');
    expect(guest.calls).toEqual(['execute date -u (shell)', 'execute date -u']);
    expect(await get('vm_terminal_output', guest)).toBe('$ ls\n');
    expect(await get('accessibility_tree', guest)).toBe(guest.tree);
    expect(await get('vm_screen_size', guest)).toEqual({ width: 1920, height: 1080 });
  });

  it('give nothing, or fail, where there is nothing to give', async () => {
    const guest = new FakeGuest();
    expect(await get('rule', guest)).toBeUndefined();
    expect(await get('time_diff_range', guest)).toBeNull();
    expect(await get('vm_terminal_output', guest)).toBeNull();
    for (const type of ['vm_command_line', 'vm_command_error']) {
      await expect(get(type, guest)).rejects.toThrow('command should be a string or a list of strings');
    }
    const gone = () => Promise.reject(new Error('the desktop is gone'));
    Object.assign(guest, { execute: gone, accessibility: gone });
    await expect(get('accessibility_tree', guest)).rejects.toThrow('the desktop is gone');
    await expect(get('vm_command_line', guest, { command: 'ls' })).rejects.toThrow('the desktop is gone');
  });

  it('vm_screen_size is that of the desktop', async () => {
    const guest = Object.assign(new FakeGuest(), { screen: { width: 1280, height: 800 } });
    expect(await get('vm_screen_size', guest)).toEqual({ width: 1280, height: 800 });
  });
});

describe('application getters', () => {
  it('vlc and gimp', async () => {
    const guest = new FakeGuest()
      .put('/home/user/.config/vlc/vlcrc', 'fullscreen=1')
      .put('/home/user/.config/vlc/status.xml', '<root>own</root>')
      .put('/home/user/.config/GIMP/2.10/gimprc', '(theme "Dark")');
    expect(await get('vlc_config', guest)).toBe('vlcrc: fullscreen=1');
    expect(await get('vlc_playing_info', guest)).toBe('status.xml: <root>own</root>');
    expect(await get('gimp_config_file', guest, { file_name: 'gimprc' })).toBe('gimprc: (theme "Dark")');
    const real = new FakeGuest();
    expect(await get('vlc_config', real)).toBeNull();
    expect(await get('gimp_config_file', real, { file_name: 'gimprc' })).toBeNull();
    expect(await get('vlc_playing_info', real)).toBeNull();
    real.outputs.set('curl -s -u :password http://localhost:8080/requests/status.xml', { output: '<root>web</root>' });
    expect(await get('vlc_playing_info', real)).toBe('status.xml: <root>web</root>');
  });

  it('vscode_config runs the command from the palette', async () => {
    const guest = new FakeGuest().put('/home/user/p.txt', 'project');
    const config = { vscode_extension_command: 'OpenProject', path: '/home/user/p.txt', dest: 'p.txt' };
    expect(await get('vscode_config', guest, config)).toBe('p.txt: project');
    expect(guest.calls.slice(1)).toEqual([
      'act {"type":"hotkey","keys":["ctrl","shift","p"]}',
      'act {"type":"type","text":"OpenProject"}',
      'act {"type":"hotkey","keys":["enter"]}',
    ]);
  });
});

describe('the desktop', () => {
  it('vm_window_size and vm_wallpaper', async () => {
    const guest = new FakeGuest();
    guest.windowSize = async (name) => (name === 'vlc' ? { width: 800, height: 600 } : null);
    expect(await get('vm_window_size', guest, { app_class_name: 'vlc' })).toEqual({ width: 800, height: 600 });
    expect(await get('vm_window_size', guest, { app_class_name: 'gimp' })).toBeNull();
    expect(await get('vm_wallpaper', guest, { dest: 'w.png' })).toBeNull();
    guest.wallpaper = async () => Buffer.from('png');
    expect(await get('vm_wallpaper', guest, { dest: 'w.png' })).toBe('w.png: png');
  });

  it('default_video_player is the one of most types', async () => {
    const guest = new FakeGuest();
    expect(await get('default_video_player', guest)).toBe('unknown');
    guest.outputs.set('xdg-mime query default video/3gp', { output: 'totem.desktop\n' });
    for (const type of ['mp4', 'ogg']) {
      guest.outputs.set(`xdg-mime query default video/${type}`, { output: 'vlc.desktop\n' });
    }
    expect(await get('default_video_player', guest)).toBe('vlc.desktop\n');
  });

  it('files of programs lie in the home folder, wherever that is', async () => {
    const guest = new FakeGuest().put('/root/home/.config/vlc/vlcrc', 'x=1');
    guest.desktopPath = async () => '/root/home/Desktop';
    expect(await get('vlc_config', guest)).toBe('vlcrc: x=1');
  });

  it('vscode_config falls back on the workspaces', async () => {
    const guest = new FakeGuest();
    const config = { vscode_extension_command: 'OpenProject', path: '/home/user/p.txt', dest: 'p.txt' };
    expect(await get('vscode_config', guest, config)).toBeNull();
    const folder = '/home/user/.config/Code/User/workspaceStorage';
    guest.outputs.set(`find ${folder} -name workspace.json -exec cat {} ;`, { output: '{"folder":"p"}' });
    expect(await get('vscode_config', guest, config)).toBe('workspace.json: {"folder":"p"}');
  });

  it('vlc_playing_info asks where the desktop publishes the player', async () => {
    const server = createServer((request, response) => {
      const isKnown = request.headers.authorization === 'Basic OnBhc3N3b3Jk' && request.url === '/requests/status.xml';
      response.writeHead(isKnown ? 200 : 401).end('<root>published</root>');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const vlcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = () =>
      GETTERS.get('vlc_playing_info')!(new Fields('g', 't1', {}), contextOf(task, new FakeGuest(), { vlcUrl }));
    expect(show(await ask())).toBe('status.xml: <root>published</root>');
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    expect(await ask()).toBeNull();
  });
});

describe('rule_relativeTime', () => {
  // A Wednesday.
  const guest = new FakeGuest();
  guest.outputs.set('date +%Y-%m-%d', { output: '2026-12-30\n' });
  const dates = async (relativeTime: object, expected: object) => {
    const rules = { relativeTime, expected };
    const before = JSON.stringify(rules);
    const found = (await get('rule_relativeTime', guest, { rules })) as { expected: unknown };
    expect(JSON.stringify(rules)).toBe(before);
    return found.expected;
  };

  it.each([
    ['tomorrow', '2026-12-31'],
    ['this month', '2026-12-30'],
    ['5th next month', '2027-1-5'],
    ['10th next month', '2027-1-10'],
    ['next Monday', '2027-1-4'],
    ['next Friday', '2027-1-1'],
    ['next Saturday', '2027-1-2'],
    ['next week Friday', '2027-1-8'],
    ['first monday four months later', '2027-4-5'],
    ['first monday eight months later', '2027-8-2'],
  ])('%s is %s', async (from, day) => {
    expect(await dates({ from }, { time: '{Year}-{MonthD}-{DayD}' })).toEqual({ time: day });
  });

  it('knows every form of a date, and fills each once', async () => {
    const time = ['{DoW}, {Month} {DayD}, {Year}', '{Year}{Month0D}{Day0D}', '{month} {MonthFull} {MonthD} {MonthD}'];
    expect(await dates({ from: '5th next month' }, { time, keep: 'x' })).toEqual({
      time: ['Tue, Jan 5, 2027', '20270105', 'january January 1 {MonthD}'],
      keep: 'x',
    });
  });

  it.each([
    ['this Saturday', 'this Sunday', '2-1', '3-1'],
    ['10th next month', '11th next month', '10-1', '11-1'],
    ['next Monday', 'next Friday', '4-1', '8-1'],
    ['next Friday', 'next Sunday', '1-1', '3-1'],
    ['next week Saturday', 'next week Sunday', '9-1', '10-1'],
    ['tomorrow', 'next Friday', '31-12', '1-1'],
  ])('from %s to %s', async (from, to, first, last) => {
    const form = '{DayD}-{MonthD}';
    expect(await dates({ from, to }, { from: form, to: form })).toEqual({ from: first, to: last });
  });

  it('splits dates into their parts', async () => {
    const parts = { puDay: '{DayD}', puMonth: '{MonthD}', puYear: '{Year}' };
    const ends = { doDay: '{DayD}', doMonth: '{MonthD}', doYear: '{Year}' };
    expect(await dates({ from: 'next Monday split', to: 'next Friday split' }, { ...parts, ...ends })).toEqual({
      ...{ puDay: '4', puMonth: '1', puYear: '2027' },
      ...{ doDay: '8', doMonth: '1', doYear: '2027' },
    });
  });

  it('takes the time zone that the task names, and refuses names of days that it does not know', async () => {
    const noon = new Date(Date.UTC(2026, 2, 1, 23, 30));
    expect(todayIn('Europe/Zurich', noon)).toEqual({ year: 2026, month: 3, day: 2 });
    expect(todayIn('America/New_York', noon)).toEqual({ year: 2026, month: 3, day: 1 });
    expect(todayIn('Nowhere/None', noon)).toEqual({ year: 2026, month: 3, day: 1 });
    await expect(dates({ from: 'someday' }, { time: '' })).rejects.toThrow('one of tomorrow');
    await expect(dates({ from: 'tomorrow' }, {})).rejects.toThrow('a text for each date');
  });
});

it('googledrive_file and time_diff_range', async () => {
  expect(await get('time_diff_range', new FakeGuest(), { diff_range_in_minutes: '60' })).toBe('60');
  const failed = await get('googledrive_file', new FakeGuest()).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(Unsupported);
});

it('every getter is tested with something to give and with nothing', () => {
  // Those of the browser and of presentations have their tests beside them (browser/, office.test.ts).
  const elsewhere = { ...browserGetters, ...officeGetters };
  const here = [...GETTERS.keys()].filter((name) => !(name in elsewhere) && !BRIDGED.getters.has(name));
  expect(here.filter((name) => !given.get(name)?.has('value'))).toEqual([]);
  // A desktop always has a screen, and some program or none ("unknown") plays videos.
  const always = ['vm_screen_size', 'default_video_player'];
  expect(here.filter((name) => !given.get(name)?.has('nothing'))).toEqual(always);
  expect(here.length).toBeGreaterThan(20);
});
