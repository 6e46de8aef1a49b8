import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeGuestServer } from '../guest/contract.testing.ts';
import type { Action, ResettableGuest } from '../guest/guest.ts';
import { connectResettable } from '../guest/http_client.ts';
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
    await guest.listDirectory('/home/user'),
    await guest.listDirectory('/nowhere'),
    await guest.windows(),
    await guest.windowSize('gnome-terminal'),
    await guest.windowSize('gimp'),
    await guest.cursorPosition(),
    await guest.desktopPath(),
    await guest.platform(),
    Buffer.from((await guest.wallpaper())!).toString('base64'),
    await guest.runPython('import pyautogui\npyautogui.moveTo(11, 12)\npyautogui.moveRel(1, 0)'),
    await guest.cursorPosition(),
    (await guest.runPython('open("/etc/passwd")')).returncode,
    await guest.execute(['python', '-c', 'import pyautogui; pyautogui.moveRel(-3, 0)']),
    await guest.cursorPosition(),
    await guest.runBash('pwd; ls; cat nothing', { workingDir: '/home/user/Documents' }),
  );
  for (const refused of [() => guest.startRecording(), () => guest.setWallpaper('/home/user/Documents/list.csv')]) {
    answers.push(
      await refused().then(
        () => 'done',
        () => 'refused',
      ),
    );
  }
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
});

describeGuestServer('the embedded desktop', async () => ({ url: server.url }), {
  lacks: ['python', 'processes', 'recording', 'wallpaper', 'download'],
});
