import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { createEmbeddedGuest } from './guest.ts';
import { LatencyModel } from './latency.ts';
import { PALETTE } from './screen/palette.ts';

const text = (bytes: Uint8Array | null) => (bytes ? new TextDecoder().decode(bytes) : null);

describe('EmbeddedGuest', () => {
  it('keeps an earlier frame as it was', async () => {
    const guest = createEmbeddedGuest('d1');
    await guest.reset(4);
    const before = await guest.screenshot();
    expect(await guest.screenshot()).toBe(before);
    const copy = before.rgb().slice();
    await guest.launch('vlc');
    const after = await guest.screenshot();
    expect(Buffer.compare(copy, Buffer.from(before.rgb()))).toBe(0);
    expect(Buffer.compare(copy, Buffer.from(after.rgb()))).not.toBe(0);
    const png = decode(after.png());
    const at = 60 * 160 + 80;
    expect([...after.rgb().slice(at * 3, at * 3 + 3)]).toEqual([
      ...PALETTE.slice(png.data[at]! * 3, png.data[at]! * 3 + 3),
    ]);
  });

  it('does what set-up steps ask for', async () => {
    const guest = createEmbeddedGuest('d1');
    await guest.reset(1);
    await guest.writeFile('/home/user/new/list.csv', new TextEncoder().encode('a,b\n1,2\n'));
    await guest.openFile('/home/user/new/list.csv');
    await guest.launch(['libreoffice', '--writer']);
    await guest.activateWindow('list.csv');
    await guest.act({ type: 'type', text: 'x\n' });
    await guest.act({ type: 'hotkey', keys: ['ctrl', 's'] });
    expect(text(await guest.readFile('/home/user/new/list.csv'))).toBe('x,b\n1,2\n');
    expect(await guest.readFile('/nowhere')).toBeNull();
    expect(await guest.execute(['python', '-c', 'print(1)'])).toMatchObject({ returncode: 127 });
    expect(await guest.execute('echo $HOME')).toEqual({ output: '/home/user\n', error: '', returncode: 0 });
  });

  it('names itself in its errors', async () => {
    const guest = createEmbeddedGuest('d9');
    await expect(guest.openFile('/nowhere')).rejects.toMatchObject({
      where: 'd9',
      message: 'there is no file /nowhere to open',
    });
    await expect(guest.writeFile('/home', new Uint8Array())).rejects.toThrow('cannot write /home');
    await guest.close();
    await expect(guest.screenshot()).rejects.toThrow(DartError);
  });
});

describe('LatencyModel', () => {
  it('does not wait by default, and draws the same waits for the same seed', () => {
    expect(new LatencyModel({}).step()).toBeUndefined();
    const draws = (seed: number) => {
      const model = new LatencyModel({ jitter: 0.25, seed });
      return Array.from({ length: 200 }, () => model.draw(1000));
    };
    expect(draws(3)).toEqual(draws(3));
    expect(draws(3)).not.toEqual(draws(4));
    expect(Math.min(...draws(3))).toBeGreaterThanOrEqual(750);
    expect(Math.max(...draws(3))).toBeLessThanOrEqual(1250);
    expect(draws(3).reduce((a, b) => a + b) / 200).toBeCloseTo(1000, -2);
  });
});
