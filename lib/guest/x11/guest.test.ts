import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { decode } from 'fast-png';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { evaluateTask } from '../../osworld/evaluate.ts';
import { expertAction, expertOf } from '../../osworld/expert.ts';
import { setupTask } from '../../osworld/setup.ts';
import { nodesOf } from '../../osworld/tree.ts';
import type { Task } from '../../stream/records.ts';
import type { AccessibleNode, Action } from '../guest.ts';
import { X11Guest } from './guest.ts';
import { desktopUser } from './user.ts';
import type { X11Window } from './windows.ts';
import { editorSkeleton, killCore, processesOf, xvfb } from './xvfb.testing.ts';

const SIZE = { width: 1000, height: 700 };
const PATIENCE_MS = 60_000;

/** Asks until the answer is one; rejects with what was last in the way when a minute is over. */
async function eventually<T>(ask: () => Promise<T | null | undefined | false>): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    const answer = await ask().catch((error: unknown) => {
      if (performance.now() > end) throw error;
      return null;
    });
    if (answer) return answer;
    if (performance.now() > end) throw new Error(`it never came: ${ask}`);
  }
}

/** Edit a file in the text editor and save it, by mouse and keyboard. */
const LETTER: Task = {
  type: 'task',
  v: 1,
  task_id: 'letter',
  domain: 'os',
  id: 'letter',
  instruction: 'Add the line "Grüße <3 日本" to letter.txt and save it',
  config: [
    { type: 'execute', parameters: { command: "printf 'Hello\\n' > /home/user/Desktop/letter.txt", shell: true } },
    { type: 'open', parameters: { path: '/home/user/Desktop/letter.txt' } },
  ],
  evaluator: {
    func: 'exact_match',
    result: { type: 'vm_command_line', command: ['cat', '/home/user/Desktop/letter.txt'] },
    expected: { type: 'rule', rules: { expected: 'Hello\nGrüße <3 日本\n' } },
  },
  expert: [
    { action: 'click', target: { role: 'text', name: '' } },
    { action: 'hotkey', keys: ['ctrl', 'End'] },
    { action: 'type', text: 'Grüße <3 日本\n' },
    { action: 'click', target: { role: 'menu', name: 'File' } },
    { action: 'click', target: { role: 'menu-item', name: 'Save' } },
    { action: 'finished' },
  ],
} as unknown as Task;

describe.skipIf(!xvfb)('the X11 guest', { timeout: 120_000 }, () => {
  let guest: X11Guest;
  let skeleton: string;
  const start = (id: string) => X11Guest.start(id, { size: SIZE, user: desktopUser(), skeleton });

  beforeAll(async () => {
    skeleton = editorSkeleton();
    guest = await start('x11');
  }, 120_000);
  afterAll(async () => {
    await guest?.close();
    rmSync(skeleton, { recursive: true, force: true });
  });

  const windowNamed = (title: string, on = guest) =>
    eventually(async () => (await on.windows()).find((window) => window.title.includes(title)));
  const textOf = async (path: string) => Buffer.from((await guest.readFile(path)) ?? []).toString('utf8');
  const play = async (...actions: Action[]) => {
    for (const action of actions) await guest.act(action);
  };

  describe('with a fresh desktop', () => {
    beforeEach(() => guest.reset(0));

    it('lets an expert edit and save a file by mouse and keyboard, and the evaluator gives 1', async () => {
      await setupTask(LETTER, guest);
      const before = (await guest.screenshot()).png();
      for (const step of expertOf(LETTER)!) {
        // A menu takes a moment to open.
        const action = await eventually(async () => expertAction(step, await guest.accessibility()));
        await guest.act(action);
      }
      await eventually(async () => (await evaluateTask(LETTER, guest, { lastAction: { type: 'finished' } })) === 1);
      const after = (await guest.screenshot()).png();
      expect(Buffer.compare(before, after)).not.toBe(0);
      for (const png of [before, after]) expect(decode(png)).toMatchObject({ ...SIZE, depth: 8, channels: 3 });
    });

    it('gives 0 for doing nothing', async () => {
      await setupTask(LETTER, guest);
      expect(await evaluateTask(LETTER, guest, { lastAction: { type: 'finished' } })).toBe(0);
    });

    it('goes back to a clean home and an empty screen, whatever was left running', async () => {
      const empty = (await guest.screenshot()).png();
      await guest.writeFile('~/Documents/secret.txt', Buffer.from('of the last task'));
      await guest.execute('rm -rf ~/Desktop ~/Desktop-note.txt; (setsid sleep 1000 &)', { shell: true });
      await guest.launch(['mousepad']);
      await windowNamed('Mousepad');
      await guest.reset(1);
      expect(await guest.windows()).toEqual([]);
      expect(await guest.readFile('~/Documents/secret.txt')).toBeNull();
      expect(await textOf('~/Desktop-note.txt')).toBe('from the skeleton\n');
      expect(await guest.listDirectory('~/Desktop')).toEqual({ type: 'directory', name: 'Desktop', children: [] });
      expect(processesOf(guest.session.id).filter((line) => /mousepad|sleep 1000/.test(line))).toEqual([]);
      const pointer = [...(await guest.cursorPosition())];
      expect(pointer).toEqual([SIZE.width / 2, SIZE.height / 2]);
      expect(Buffer.compare((await guest.screenshot()).png(), empty)).toBe(0);
    });
  });

  describe('keyboard and mouse', () => {
    beforeAll(async () => {
      await guest.reset(0);
      await guest.writeFile('~/typed.txt', Buffer.from('x'));
      await guest.openFile('~/typed.txt');
    }, 120_000);

    /** Types over what is there, saves, and reads the file; again while the editor is not up. */
    const typed = (type: () => Promise<unknown>, expected: string) =>
      eventually(async () => {
        await play({ type: 'hotkey', keys: ['ctrl', 'a'] }, { type: 'hotkey', keys: ['delete'] });
        await type();
        await play({ type: 'hotkey', keys: ['ctrl', 's'] });
        await sleep(300);
        return (await textOf('~/typed.txt')).trimEnd() === expected;
      });

    it.each([
      ['what the keymap has', 'a<b> "Q" {}~^`|\\ 09'],
      ['what it has not', 'é 日本 ÄÖÜß € – 😀 ы'],
      ['more letters than it has free keys', String.fromCodePoint(...Array.from({ length: 70 }, (_, i) => 0x4e00 + i))],
    ])('type %s', async (_, text) => {
      await typed(() => play({ type: 'type', text }), text);
    });

    it('type the same with a German keymap', async () => {
      await guest.execute(['setxkbmap', 'de']);
      await typed(() => play({ type: 'type', text: 'a<b> y z @ {} é日' }), 'a<b> y z @ {} é日');
      await guest.execute(['setxkbmap', 'us']);
    });

    it('type the same from Python’s pyautogui', async () => {
      const code = "import pyautogui\nfor part in ('a<b ', 'é日本'):\n    pyautogui.write(part)";
      await typed(
        async () => expect(await guest.runPython(code)).toMatchObject({ error: '', returncode: 0 }),
        'a<b é日本',
      );
    });

    it('hold keys, press combinations, and know which keys there are', async () => {
      const shifted = [
        { type: 'key_down', key: 'shift' },
        { type: 'hotkey', keys: ['a'] },
        { type: 'key_up', key: 'shift' },
        { type: 'hotkey', keys: ['b'] },
      ] as Action[];
      await typed(() => play(...shifted), 'Ab');
      await expect(guest.act({ type: 'hotkey', keys: ['hyperspace'] })).rejects.toThrow('no key "hyperspace"');
    });

    it('select by dragging, and scroll', async () => {
      const area = await eventually(async () => widget('text', await guest.accessibility()));
      const { x, y, width } = area.bounds!;
      await typed(() => play({ type: 'type', text: 'one' }), 'one');
      const drag = { type: 'drag', x: x + width - 5, y: y + 5, to_x: x + 2, to_y: y + 5 } as const;
      await typed(async () => {
        await play({ type: 'type', text: 'dragged' }, drag, { type: 'type', text: 'over' });
      }, 'over');
      await play({ type: 'type', text: '\n'.repeat(80) });
      await play({ type: 'hotkey', keys: ['ctrl', 'Home'] });
      await sleep(300);
      const top = (await guest.screenshot()).png();
      await play({ type: 'scroll', x: x + 50, y: y + 50, direction: 'down', amount: 10 });
      await eventually(async () => Buffer.compare((await guest.screenshot()).png(), top) !== 0);
    });

    it('find the pointer where it was put, in the picture too', async () => {
      await play({ type: 'move', x: 20, y: 20 });
      const left = decode((await guest.screenshot()).png()).data;
      await play({ type: 'move', x: 900, y: 650 });
      expect(await guest.cursorPosition()).toEqual([900, 650]);
      const right = decode((await guest.screenshot()).png()).data;
      const differs = (x: number, y: number) => {
        const at = (y * SIZE.width + x) * 3;
        return Buffer.compare(Buffer.from(left.slice(at, at + 3)), Buffer.from(right.slice(at, at + 3))) !== 0;
      };
      const around = (x: number, y: number) =>
        Array.from({ length: 12 * 12 }, (_, i) => differs(x + (i % 12), y + Math.floor(i / 12))).some(Boolean);
      expect([around(20, 20), around(900, 650), around(500, 20)]).toEqual([true, true, false]);
    });
  });

  describe('windows and the tree', () => {
    it('are named, found by title and class, brought to the front and closed', async () => {
      await guest.reset(0);
      await guest.launch(['mousepad']);
      await guest.launch(['lxterminal', '--title', 'Shell']);
      await windowNamed('Mousepad');
      await windowNamed('Shell');
      await eventually(async () => frameNamed('Shell', await guest.accessibility()));
      await eventually(async () => frameNamed('Untitled 1 - Mousepad', await guest.accessibility()));
      // GTK says of each widget that it is one of its own.
      const editor = frameNamed('Untitled 1 - Mousepad', await guest.accessibility())!;
      expect(editor.attributes).toMatchObject({ toolkit: 'gtk' });
      expect(await guest.windowSize('Mousepad')).toEqual({ width: expect.any(Number), height: expect.any(Number) });
      expect(await guest.windowSize('gimp')).toBeNull();
      await guest.activateWindow('mousepad.Mousepad', { byClass: true, strict: true });
      const front = async () => ((await guest.session.screen('windows')) as X11Window[]).find(({ active }) => active);
      await eventually(async () => (await front())?.wmClass === 'mousepad.Mousepad');
      await guest.closeWindow('untitled');
      await eventually(async () => !(await guest.windows()).some(({ title }) => title.includes('Mousepad')));
      await guest.activateWindow('Shell', { strict: true });
      await guest.act({ type: 'type', text: 'echo at-$((40+2))-hand\n' });
      await eventually(async () => (await guest.terminalOutput())?.includes('at-42-hand'));
    });

    it('are there though a program hangs', async () => {
      await guest.reset(0);
      await guest.launch(['mousepad']);
      await guest.launch(['lxterminal', '--title', 'Shell']);
      await eventually(async () => frameNamed('Shell', await guest.accessibility()));
      await eventually(async () => frameNamed('Untitled 1 - Mousepad', await guest.accessibility()));
      killCore(guest.session.id, 'mousepad', 'SIGSTOP');
      const tree = await guest.accessibility();
      expect(frameNamed('Shell', tree)?.children.length).toBeGreaterThan(0);
      // What the window manager knows of it is all there is.
      expect(frameNamed('Untitled 1 - Mousepad', tree)?.children).toEqual([]);
    });
  });

  it('says that what was open is gone when the X server ends, until a reset', async () => {
    killCore(guest.session.id, 'Xvfb');
    await eventually(async () =>
      guest.screenshot().then(
        () => false,
        (error) => /Xvfb has ended/.test(String(error)),
      ),
    );
    // The window manager cannot be started without it: however often it ends, that is not the reason.
    await eventually(async () => !processesOf(guest.session.id).some((line) => line.includes('openbox')));
    await expect(guest.execute(['true'])).rejects.toThrow('Xvfb has ended');
    await guest.reset(2);
    expect((await guest.screenshot()).width).toBe(SIZE.width);
    expect((await guest.execute(['echo', 'again'])).output).toBe('again\n');
  });

  it('starts a window manager that ended again, and a helper', async () => {
    killCore(guest.session.id, 'openbox');
    killCore(guest.session.id, 'dart_x11.display');
    await eventually(async () => (await guest.screenshot()).width === SIZE.width);
    await guest.launch(['lxterminal', '--title', 'Managed']);
    await windowNamed('Managed');
  });

  it('runs beside another one, and neither sees the other', async () => {
    await guest.reset(0);
    const other = await start('other');
    try {
      expect(other.session.display).not.toBe(guest.session.display);
      await other.writeFile('~/only-here.txt', Buffer.from('x'));
      await other.launch(['lxterminal', '--title', 'Of the other']);
      await windowNamed('Of the other', other);
      await eventually(async () => frameNamed('Of the other', await other.accessibility()));
      expect(await guest.windows()).toEqual([]);
      expect(frameNamed('Of the other', await guest.accessibility())).toBeUndefined();
      expect(await guest.readFile('~/only-here.txt')).toBeNull();
      const look = await guest.execute(['env', `DISPLAY=${other.session.display}`, 'xprop', '-root']);
      expect([look.returncode === 0, look.error]).toEqual([false, expect.stringMatching(/Authorization|open display/)]);
      await guest.act({ type: 'move', x: 5, y: 6 });
      expect(await other.cursorPosition()).not.toEqual([5, 6]);
    } finally {
      await other.close();
    }
    expect(processesOf(other.session.id)).toEqual([]);
    expect(existsSync(other.session.folder)).toBe(false);
    expect((await guest.screenshot()).width).toBe(SIZE.width);
  });
});

function widget(role: string, tree: AccessibleNode): AccessibleNode | undefined {
  return [...nodesOf(tree)].find((node) => node.role === role && node.states.includes('showing'));
}

function frameNamed(name: string, tree: AccessibleNode): AccessibleNode | undefined {
  return [...nodesOf(tree)].find((node) => node.role === 'frame' && node.name === name);
}
