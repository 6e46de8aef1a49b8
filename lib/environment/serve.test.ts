import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import type { Env } from '../stream/records.ts';
import { type Environment, NO_WAITS } from './environment.ts';
import { FakeGuest } from './fake.testing.ts';
import { ServedDesktops } from './serve.ts';

/** A driver whose desktops say when they are closed; those named in `broken` do not start. */
function driver(capacity: number, broken: number[] = []) {
  const closed: string[] = [];
  const start = async (place: number, id: string): Promise<Environment> => {
    if (broken.includes(place)) throw new DartError('no room', { where: id });
    const guest = new FakeGuest(id);
    const close = async () => void closed.push(id);
    return { id, driver: 'fake', guest, waits: NO_WAITS, reset: async () => {}, close };
  };
  return { name: 'fake', capacity, start, closed };
}

const platform = async (env: Env) => (await fetch(`${env.server_url}/platform`)).text();

describe('ServedDesktops', () => {
  it('tells where each desktop is, and removes them all', async () => {
    const fake = driver(2);
    const desktops = new ServedDesktops(fake, { port: 0, name: 'd' });
    const ready: Env[] = [];
    await desktops.start(async (env) => void ready.push(env));
    expect(ready).toEqual(desktops.envs);
    expect(ready.map(({ env_id, driver: kind, state }) => [env_id, kind, state])).toEqual([
      ['d-0', 'fake', 'ready'],
      ['d-1', 'fake', 'ready'],
    ]);
    expect(ready[0]!.screen).toEqual(new FakeGuest('d-0').screen);
    expect(await Promise.all(ready.map(platform))).toEqual(['Linux', 'Linux']);
    expect(new Set(ready.map((env) => env.server_url)).size).toBe(2);
    await desktops.close();
    expect(fake.closed.sort()).toEqual(['d-0', 'd-1']);
    await expect(platform(ready[0]!)).rejects.toThrow();
  });

  it('says which desktop does not start; the others can still be removed', async () => {
    const fake = driver(3, [1]);
    const desktops = new ServedDesktops(fake, { port: 0, name: 'd' });
    await expect(desktops.start(async () => {})).rejects.toMatchObject({ where: 'd-1', message: 'no room' });
    await desktops.close();
    expect(fake.closed.sort()).toEqual(['d-0', 'd-2']);
  });

  it('names a port that is taken, and leaves no desktop behind', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const fake = driver(1);
    const desktops = new ServedDesktops(fake, { port, name: 'd' });
    await expect(desktops.start(async () => {})).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
    expect([fake.closed, desktops.envs]).toEqual([['d-0'], []]);
    other.close();
  });
});
