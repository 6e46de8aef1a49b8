import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contextOf, type FetchedFile, isFile } from '../context.ts';
import { GETTERS } from '../evaluate.ts';
import { Fields } from '../fields.ts';
import { FakeGuest } from '../guest.testing.ts';
import { normaliseTask } from '../task.ts';
import { browserGetters } from './browser.ts';

const task = normaliseTask({ id: 't1', instruction: 'do it', evaluator: { func: 'infeasible' } }, 'x');
const tested = new Set<string>();

async function get(type: string, guest: FakeGuest, config: object = {}, cache = new Map<string, Uint8Array>()) {
  tested.add(type);
  const getter = GETTERS.get(type);
  if (getter === undefined) throw new Error(`no getter ${type}`);
  return show(await getter(new Fields(type, 't1', config), contextOf(task, guest, { cache })));
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

  it('list_directory walks folders', async () => {
    const guest = new FakeGuest();
    guest.outputs.set('ls -a /d', { output: '.\n..\nb\na.txt\n' });
    guest.outputs.set('test -d /d/a.txt', { returncode: 1 });
    guest.outputs.set('ls -a /d/b', { output: '' });
    expect(await get('list_directory', guest, { path: '/d/' })).toEqual({
      type: 'directory',
      name: 'd',
      children: [
        { type: 'directory', name: 'b', children: [] },
        { type: 'file', name: 'a.txt' },
      ],
    });
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

it('every getter is tested', () => {
  // Those of the browser have their tests beside them (browser/).
  expect([...GETTERS.keys()].filter((name) => !tested.has(name) && !(name in browserGetters))).toEqual([]);
});
