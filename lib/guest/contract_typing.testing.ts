import { expect, it } from 'vitest';
import { type Asker, type Capability, until } from './contract_asker.testing.ts';
import { HttpGuest } from './http_client.ts';
import { toPyautogui } from './pyautogui.ts';

/** Before each action of OSWorld's controller. */
const PREFIX = 'import pyautogui; import time; pyautogui.FAILSAFE = False; ';

/** Name, pyautogui code as it comes in, and what it types. */
const TYPED: [string, string, string][] = [
  ['plain text', 'pyautogui.typewrite("Hello, World 123", interval=0.01)', 'Hello, World 123'],
  ['every character of ASCII', `pyautogui.write(${JSON.stringify(ascii())})`, ascii()],
  ['<, which pyautogui itself gets wrong', "pyautogui.typewrite('if a<b: c<<d')", 'if a<b: c<<d'],
  ['< as a key', "pyautogui.press('<')", '<'],
  [
    "what OSWorld's client makes of <",
    "pyautogui.typewrite('a '); pyautogui.hotkey(\"shift\", ','); pyautogui.typewrite(' b')",
    'a < b',
  ],
  ['letters beyond ASCII', 'pyautogui.typewrite("äöü ß é 漢字 €")', 'äöü ß é 漢字 €'],
  ['letters beyond ASCII as escapes', 'pyautogui.typewrite("\\u00e4\\u6f22 <\\u003c")', 'ä漢 <<'],
  [
    'text by way of the clipboard',
    'import pyperclip; pyperclip.copy("naïve <tag>"); pyautogui.hotkey("ctrl", "v")',
    'naïve <tag>',
  ],
  ['our own client’s code', toPyautogui({ type: 'type', text: 'x<y "ü" \\ \'z\'' }), 'x<y "ü" \\ \'z\''],
  ['keys one by one', 'pyautogui.press(["a", "space", "b"]); pyautogui.hotkey("shift", "c")', 'a bC'],
];

function ascii(): string {
  return String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i));
}

/** What is typed arrives as it says, by whichever way it comes. */
export function typingContract(ask: Asker, has: (capability: Capability) => boolean): void {
  const path = async () => `${await ask.folder()}/typed.txt`;
  const play = async (code: string) => {
    const { status, json } = await ask.post('/execute', { command: ['python', '-c', PREFIX + code], shell: false });
    expect([status, json.error, json.returncode]).toEqual([200, '', 0]);
  };
  const saved = async () => {
    await play('pyautogui.hotkey("ctrl", "s")');
    const file = await ask.post('/file', new URLSearchParams({ file_path: await path() }));
    return file.text.replace(/\n$/, '');
  };
  /** Types over all that is there; again where the editor had not come up. */
  const typedOver = async (type: () => Promise<void>, expected: string) => {
    const attempt = async () => {
      await play('pyautogui.hotkey("ctrl", "a"); pyautogui.press("delete")');
      await type();
      return until(saved, (text) => text === expected, 5000);
    };
    return until(attempt, (text) => text === expected, 30_000);
  };
  const open = async () => {
    if ((await ask.post('/file', new URLSearchParams({ file_path: await path() }))).status === 200) return;
    await ask.upload(await path(), 'nothing yet\n');
    await ask.post('/setup/open_file', { path: await path() });
    await ask.post('/setup/activate_window', { window_name: 'typed.txt' });
  };

  if (has('editor'))
    it.each(TYPED)('types %s', async (_, code, expected) => {
      await open();
      expect(await typedOver(() => play(code), expected)).toBe(expected);
    });

  if (has('editor'))
    it('types what our client is told to type', async () => {
      await open();
      const { url, token } = ask.served();
      const guest = await HttpGuest.connect(token === undefined ? url : url.replace('://', `://:${token}@`));
      const text = 'a<b> {"k": "é\\n"} 漢 ~^`';
      expect(await typedOver(() => guest.act({ type: 'type', text }), text)).toBe(text);
    });
}
