import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { AccessibleNode, Action } from '../guest.ts';
import { deedsOf } from './deeds.ts';
import { treeOfList } from './files.ts';
import { ReplyReader } from './helper.ts';
import { defaultsList } from './home.ts';
import { debianPackages, desktopPrograms, missingPrograms } from './machine.ts';
import { HomePaths } from './paths.ts';
import { frameOf } from './picture.ts';
import { parseSize } from './program.ts';
import { focusedTerminal } from './terminal.ts';
import { withUnseenWindows } from './unseen.ts';
import { userOfLine } from './user.ts';
import { desktopVariables } from './variables.ts';
import { pathOfFeh, pathOfSetting } from './wallpaper.ts';
import { matching, namesFile } from './windows.ts';
import { splitWords } from './words.ts';
import { xauthority } from './xauthority.ts';

describe('defaultsList', () => {
  it('prefers gedit, then mousepad, of those that are installed', () => {
    const listed = (...names: string[]) =>
      defaultsList((path) => names.some((name) => path.endsWith(`/${name}.desktop`)));
    const gedit = 'org.gnome.gedit';
    const mousepad = 'org.xfce.mousepad';
    const head = '[Default Applications]\ntext/plain=';
    expect(listed(mousepad, gedit)).toBe(`${head}${gedit}.desktop;${mousepad}.desktop;\n`);
    expect(listed(mousepad, 'libreoffice-writer')).toBe(`${head}${mousepad}.desktop;\n`);
    expect(listed('libreoffice-writer')).toBe(null);
  });
});

describe('deedsOf', () => {
  it.each<[Action, unknown[]]>([
    [
      { type: 'double_click', x: 3, y: 4 },
      [
        ['move', 3, 4],
        ['click', 'left', 2],
      ],
    ],
    [{ type: 'mouse_down', button: 'right' }, [['button', 'right', true]]],
    [
      { type: 'scroll', direction: 'left', x: 1, y: 2, amount: 3 },
      [
        ['move', 1, 2],
        ['click', 'wheel_left', 3],
      ],
    ],
    [{ type: 'scroll', direction: 'down' }, [['click', 'down', 5]]],
    [{ type: 'type', text: 'a<é' }, [['type', 'a<é']]],
    [{ type: 'hotkey', keys: ['Control_L', 'Return', 'é'] }, [['hotkey', 'ctrl', 'enter', 'é']]],
    [{ type: 'key_up', key: 'Shift' }, [['key', 'shift', false]]],
    [{ type: 'wait', ms: 5 }, []],
    [{ type: 'finished' }, []],
  ])('%j', (action, deeds) => expect(deedsOf(action)).toEqual(deeds));

  it('presses before a drag and lets go behind it', () => {
    const deeds = deedsOf({ type: 'drag', x: 1, y: 2, to_x: 30, to_y: 40 });
    expect(deeds.map(([name, first, second]) => [name, first, second])).toEqual([
      ['move', 1, 2],
      ['button', 'left', true],
      ['move', 30, 40],
      ['pause', expect.any(Number), undefined],
      ['button', 'left', false],
    ]);
  });

  it('knows which keys there are not', () => {
    expect(() => deedsOf({ type: 'hotkey', keys: ['ctrl', 'hyperspace'] })).toThrow('no key "hyperspace"');
  });
});

describe('frames', () => {
  // Blue first, and a fourth byte that means nothing: red, green / blue, white.
  const pixels = Uint8Array.of(0, 0, 255, 9, 0, 255, 0, 9, 255, 0, 0, 9, 255, 255, 255, 9);
  const rgb = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];

  it('are red, green, blue', () => {
    expect([...frameOf(pixels, { width: 2, height: 2 }).rgb()]).toEqual(rgb);
  });

  it('are PNG files that others can read', () => {
    const { width, height, data, channels } = decode(frameOf(pixels, { width: 2, height: 2 }).png());
    expect([width, height, channels, [...data]]).toEqual([2, 2, 3, rgb]);
  });
});

describe('replies of a helper', () => {
  it('are put together from whatever pieces come', () => {
    const stream = Buffer.concat([
      Buffer.from('{"id":1,"value":"ü"}\n{"id":2,"bytes":5}\n'),
      Buffer.from([10, 1, 10, 123, 10]),
      Buffer.from('{"id":3,"error":"no"}\n'),
    ]);
    const expected = [
      [{ id: 1, value: 'ü' }, null],
      [{ id: 2, bytes: 5 }, [10, 1, 10, 123, 10]],
      [{ id: 3, error: 'no' }, null],
    ];
    for (const size of [1, 2, 7, stream.length]) {
      const replies: unknown[] = [];
      const reader = new ReplyReader((header, bytes) => replies.push([header, bytes && [...bytes]]));
      for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size));
      expect(replies).toEqual(expected);
    }
  });
});

describe('commands and paths', () => {
  it.each([
    ['ls -l  "a b" \'c "d"\'', ['ls', '-l', 'a b', 'c "d"']],
    ['a\\ b "\\"" \'\'', ['a b', '"', '']],
    ['', []],
  ])('splits %s', (line, words) => expect(splitWords(line)).toEqual(words));

  it('refuses an open quote', () => expect(() => splitWords("echo 'a")).toThrow('has no end'));

  it.each([
    ['/home/user', '/srv/d1'],
    ['/home/user/Desktop/a.txt', '/srv/d1/Desktop/a.txt'],
    ['/home/username/a', '/home/username/a'],
    ['/mnt/home/user/a', '/mnt/home/user/a'],
    ['~/a', '/srv/d1/a'],
    ['$HOME', '/srv/d1'],
    ['~other', '/srv/d1/~other'],
    ['notes.txt', '/srv/d1/notes.txt'],
  ])('finds %s', (path, whole) => expect(new HomePaths('/srv/d1').inPath(path)).toBe(whole));

  it('puts the home where tasks name it', () => {
    const text = 'cp "/home/user/a" /home/user; file:///home/user/b';
    expect(new HomePaths('/srv/$&').inText(text)).toBe('cp "/srv/$&/a" /srv/$&; file:///srv/$&/b');
    expect(new HomePaths('/home/user').inText(text)).toBe(text);
  });

  it('makes a tree of what find lists', () => {
    expect(treeOfList('/home/me/', 'd/in\0f/in/a b\0d/in/deep\0l/link\0')).toEqual({
      type: 'directory',
      name: 'me',
      children: [
        {
          type: 'directory',
          name: 'in',
          children: [
            { type: 'file', name: 'a b' },
            { type: 'directory', name: 'deep', children: [] },
          ],
        },
        { type: 'file', name: 'link' },
      ],
    });
  });

  it('reads sizes', () => {
    expect(parseSize('1280x800')).toEqual({ width: 1280, height: 800 });
    for (const text of ['', '1280', '1280x', '10x10', '99999x800', '1280x800x24']) {
      expect(() => parseSize(text)).toThrow('no size of a screen');
    }
  });
});

describe('windows', () => {
  const windows = [
    { title: 'notes.txt - Mousepad', wmClass: 'mousepad.Mousepad' },
    { title: 'Mousepad', wmClass: 'other.Other' },
  ];

  it.each([
    ['MOUSEPAD', {}, 0],
    ['Mousepad', { strict: true }, 1],
    ['mousepad', { strict: true }, -1],
    ['pad.mouse', { byClass: true }, 0],
    ['mousepad.Mousepad', { byClass: true, strict: true }, 0],
    ['gimp', {}, -1],
  ])('called %s %j', (name, match, index) => expect(matching(windows, name, match)).toBe(windows[index]));

  it.each([
    ['a.txt - Mousepad', '/home/user/a.txt', true],
    ['report – LibreOffice Writer', '/x/report.docx', true],
    ['Untitled', '/x/report.docx', false],
    ['.bashrc', '/x/.bashrc', true],
  ])('%s shows %s: %s', (title, path, shows) => expect(namesFile(title, path)).toBe(shows));

  const node = (role: string, name: string, children: AccessibleNode[] = [], states: string[] = []): AccessibleNode => {
    return { role, name, states, children };
  };

  it('are in the tree though their programs tell nothing of them', () => {
    const known = node('application', 'mousepad', [node('frame', 'notes.txt - Mousepad')]);
    const place = { id: 1, active: true, x: 1, y: 2, width: 30, height: 40 };
    const seen = windows.map((window) => ({ ...place, ...window }));
    const tree = withUnseenWindows(node('desktop-frame', 'main', [known]), seen, { width: 640, height: 480 });
    expect(tree.bounds).toEqual({ x: 0, y: 0, width: 640, height: 480 });
    expect(tree.children).toEqual([
      known,
      {
        ...node('application', 'other'),
        children: [
          {
            ...node('frame', 'Mousepad', [], ['active', 'showing', 'visible']),
            bounds: { x: 1, y: 2, width: 30, height: 40 },
          },
        ],
      },
    ]);
  });

  it('have a terminal only where one is focused', () => {
    const terminal = (states: string[]) => ({ ...node('terminal', 'Terminal', [], states), text: '$ ls\na\n\n\n' });
    expect(focusedTerminal(node('desktop-frame', 'main', [terminal(['showing'])]))).toBeNull();
    expect(focusedTerminal(node('frame', 'x', [node('panel', ''), terminal(['focused'])]))).toBe('$ ls\na');
  });
});

describe('the machine', () => {
  it('says all that is missing, and how to get it', () => {
    const find = (name: string) => (name === 'openbox' || name === 'Xvfb' ? null : `/usr/bin/${name}`);
    expect(missingPrograms(find)).toEqual(expect.arrayContaining(['Xvfb', 'openbox']));
    expect(() => desktopPrograms(find)).toThrow(/^this machine has no Xvfb, no openbox/);
    try {
      desktopPrograms(find);
    } catch (error) {
      expect(error).toMatchObject({ hint: expect.stringMatching(/^apt-get install .* xvfb openbox .*at-spi2-core/) });
    }
    expect(debianPackages()).toEqual(expect.arrayContaining(['xvfb', 'ffmpeg', 'libxtst6']));
  });

  it.each([
    ['user:x:1000:1001:User,,,:/home/user:/bin/bash', { name: 'user', uid: 1000, gid: 1001 }],
    ['+nis', null],
    ['', null],
  ])('reads %s', (line, user) => expect(userOfLine(line)).toEqual(user));

  it('tells programs nothing of the server’s own variables but the time zone and proxies', () => {
    const own = { DART_GUEST_TOKEN: 'secret', AWS_SECRET: 'x', TZ: 'Asia/Tokyo', PATH: '/evil', DISPLAY: ':0' };
    const user = { name: 'user', uid: 1, gid: 1 };
    const variables = desktopVariables({ id: 'd', folder: '/f', home: '/h', user, own });
    expect(variables).toMatchObject({ TZ: 'Asia/Tokyo', HOME: '/h', DART_DESKTOP: 'd', USER: 'user' });
    expect(JSON.stringify(variables)).not.toMatch(/secret|AWS|evil|":0"/);
  });

  it('writes Xauthority files for any display', () => {
    const cookie = Uint8Array.from({ length: 16 }, (_, i) => i);
    expect(xauthority(cookie).toString('latin1')).toBe(
      `\xff\xff\0\0\0\0\0\x12MIT-MAGIC-COOKIE-1\0\x10${String.fromCharCode(...cookie)}`,
    );
    expect(xauthority()).not.toEqual(xauthority());
  });

  it.each([
    ["'file:///home/user/a%20b.png'\n", '/home/user/a b.png'],
    ["''\n", null],
    ['No such schema', null],
  ])('finds the wallpaper in the setting %j', (output, path) => expect(pathOfSetting(output)).toBe(path));

  it('finds the wallpaper in what feh leaves', () => {
    expect(pathOfFeh("#!/bin/sh\nfeh --no-fehbg --bg-fill '/home/user/it'\\''s.png' \n")).toBe("/home/user/it's.png");
    expect(pathOfFeh('')).toBeNull();
  });
});
