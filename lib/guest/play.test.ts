import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { BareGuest } from './bare_guest.testing.ts';
import type { Action } from './guest.ts';
import { Lanes } from './http_lanes.ts';
import { needsPython, playScript, pythonCode, readScript } from './play.ts';

class Player extends BareGuest {
  readonly played: Action[] = [];
  playing = (_: Action) => {};

  override async act(action: Action): Promise<void> {
    this.played.push(action);
    this.playing(action);
  }

  override async cursorPosition(): Promise<[x: number, y: number]> {
    return [40, 50];
  }
}

const CLICKS: Action[] = [
  { type: 'click', x: 1, y: 1 },
  { type: 'click', x: 2, y: 2 },
];

describe('scripts of pyautogui calls', () => {
  it('begin where the pointer is', async () => {
    const guest = new Player('d');
    expect(await readScript(guest, 'pyautogui.click(); pyautogui.moveRel(1, 2)')).toEqual([
      { type: 'click', x: 40, y: 50 },
      { type: 'move', x: 41, y: 52 },
    ]);
    expect(await readScript(guest, 'while True: pass')).toBeInstanceOf(DartError);
  });

  it('stop between two actions when nobody waits for them any more', async () => {
    const guest = new Player('d');
    const stop = new AbortController();
    guest.playing = () => stop.abort();
    await expect(playScript(guest, CLICKS, stop.signal)).rejects.toThrow('stopped before all actions were played');
    expect(guest.played).toEqual(CLICKS.slice(0, 1));
  });

  it('fail as a program does', async () => {
    const guest = new Player('d');
    guest.playing = () => {
      throw new DartError('there is no such key', { where: 'd' });
    };
    expect(await playScript(guest, CLICKS)).toEqual({ output: '', error: 'd: there is no such key\n', returncode: 1 });
  });
});

it.each([
  [['python', '-c', 'import pyautogui'], 'import pyautogui'],
  [['/usr/bin/python3', '-c', 'pyautogui.click()'], 'pyautogui.click()'],
  [['python3', '-c', 'print(1)'], null],
  [['python3', '-c', 'import pyautogui', 'argument'], null],
  [['python3', 'pyautogui.py', 'x'], null],
  ['python -c "import pyautogui"', null],
])('finds the code in %j', (command, code) => expect(pythonCode(command)).toBe(code));

it.each([
  ['pyautogui.click(1, 2)', false],
  ['print(pyautogui.size())', true],
  ['pyperclip.copy("x")', true],
  ['pyperclip.copy("x"); pyautogui.hotkey("ctrl", "v")', false],
  ["pyperclip.copy('x'); pyautogui.hotkey(['ctrl', 'v'])", false],
])('knows whether %s leaves something that only Python can', (code, needs) => expect(needsPython(code)).toBe(needs));

describe('Lanes', () => {
  const stays = new AbortController().signal;

  it('does not begin what a client asked for that has left meanwhile', async () => {
    const lanes = new Lanes();
    const left = new AbortController();
    let free = () => {};
    const held = lanes.run(stays, (signal) =>
      lanes.inLane('input', signal, () => new Promise<void>((resolve) => (free = resolve))),
    );
    let begun = false;
    const waiting = lanes.run(left.signal, (signal) =>
      lanes.inLane('input', signal, async () => {
        begun = true;
      }),
    );
    const refused = expect(waiting).rejects.toThrow('the client has left');
    await Promise.resolve();
    left.abort(new DartError('the client has left'));
    const after = lanes.run(stays, (signal) => lanes.inLane('input', signal, async () => 'done'));
    await new Promise(setImmediate);
    free();
    await refused;
    expect([await held, await after, begun]).toEqual([undefined, 'done', false]);
  });

  it('lets what comes during a reset wait for its end, and goes on after one that failed', async () => {
    const lanes = new Lanes();
    let finish = () => {};
    const reset = lanes.reset('d', () => new Promise<void>((resolve) => (finish = resolve)));
    let answered = false;
    const waiting = lanes.run(stays, async () => {
      answered = true;
    });
    await new Promise(setImmediate);
    expect(answered).toBe(false);
    finish();
    await Promise.all([reset, waiting]);
    await expect(lanes.reset('d', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await lanes.run(stays, async () => 'still there')).toBe('still there');
  });
});
