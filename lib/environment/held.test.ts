import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import type { Env } from '../stream/records.ts';
import { type Environment, NO_WAITS } from './environment.ts';
import { FakeGuest } from './fake.testing.ts';
import { HeldDesktops, type HoldOptions } from './held.ts';
import { EnvironmentPool } from './pool.ts';
import { replaceOverHttp } from './replace.ts';
import { ReplaceServer } from './replace_server.ts';

/** A driver whose desktops say when they are closed; those named in `broken` never start. */
function driver(capacity: number, { broken = [], url }: { broken?: number[]; url?: (id: string) => string } = {}) {
  const closed: string[] = [];
  const start = async (place: number, id: string): Promise<Environment> => {
    if (broken.includes(place)) throw new DartError('no room', { where: id });
    const guest = new FakeGuest(id);
    const close = async () => void closed.push(id);
    return { id, driver: 'fake', guest, waits: NO_WAITS, serverUrl: url?.(id), reset: async () => {}, close };
  };
  return { name: 'fake', capacity, start, closed };
}

async function held(fake: ReturnType<typeof driver>, options: Partial<HoldOptions> = {}) {
  const pool = new EnvironmentPool([fake], { name: 'd', retryMs: 0, leases: options.count ?? fake.capacity });
  const desktops = new HeldDesktops(pool, { count: fake.capacity, port: 0, ...options });
  const ready: Env[] = [];
  const error = await desktops
    .start(async (env) => void ready.push(env))
    .then(
      () => null,
      (thrown: unknown) => thrown as Error,
    );
  const close = async () => {
    await desktops.close();
    await pool.close();
  };
  return { pool, desktops, ready, error, close };
}

const platform = async (env: Env) => (await fetch(`${env.server_url}/platform`)).text();

describe('HeldDesktops', () => {
  it('puts desktops of this process behind servers, and takes them away', async () => {
    const fake = driver(2);
    const { desktops, ready, close } = await held(fake, { runId: 'r' });
    expect(ready).toEqual(desktops.envs);
    expect(ready.map(({ env_id, driver: kind, state, run_id }) => [env_id, kind, state, run_id])).toEqual([
      ['d-0', 'fake', 'ready', 'r'],
      ['d-1', 'fake', 'ready', 'r'],
    ]);
    expect(ready[0]!.screen).toEqual(new FakeGuest('d-0').screen);
    expect(await Promise.all(ready.map(platform))).toEqual(['Linux', 'Linux']);
    expect(new Set(ready.map((env) => env.server_url)).size).toBe(2);
    await close();
    expect(fake.closed.sort()).toEqual(['d-0', 'd-1']);
    await expect(platform(ready[0]!)).rejects.toThrow();
  });

  it("tells a desktop's own server, and its waits", async () => {
    const { ready, close } = await held(driver(1, { url: (id) => `http://${id}` }));
    expect(ready).toMatchObject([
      { server_url: 'http://d-0', waits: { after_reset_s: 0, after_action_s: 0, before_evaluate_s: 0 } },
    ]);
    await close();
  });

  it('does without a desktop that does not start, and fails where none does', async () => {
    const some = driver(3, { broken: [1] });
    const { ready, error, pool, close } = await held(some);
    expect([error, ready.map((env) => env.env_id).sort()]).toEqual([null, ['d-0', 'd-2']]);
    expect(pool.counts).toMatchObject({ booted: 2, retired: 1, failures: { boot: 3 } });
    await close();
    expect(some.closed.sort()).toEqual(['d-0', 'd-2']);
    const none = await held(driver(2, { broken: [0, 1] }));
    expect(none.error?.message).toMatch(/^no desktop is left; the last one failed: d-[01]r2: no room$/);
    await none.close();
  });

  it('lets a spare stand in for one that does not start', async () => {
    const { ready, error, close } = await held(driver(3, { broken: [0] }), { count: 2 });
    expect([error, ready.map((env) => env.env_id).sort()]).toEqual([null, ['d-1', 'd-2']]);
    await close();
  });

  it('names a port that is taken, and leaves no desktop behind', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const fake = driver(1);
    const { error, desktops, close } = await held(fake, { port });
    expect([error?.message, desktops.envs]).toEqual([
      expect.stringContaining(`cannot listen on 127.0.0.1:${port}`),
      [],
    ]);
    await close();
    expect(fake.closed).toEqual(['d-0']);
    other.close();
  });
});

describe('replacing a held desktop', () => {
  it('gives a clean one in its place over HTTP, and closes the used one', async () => {
    const fake = driver(1, { url: (id) => `http://${id}` });
    let desktops: HeldDesktops | null = null;
    const server = await ReplaceServer.open((id) => desktops!.replace(id));
    const holding = await held(fake, { replaceUrl: server.url });
    desktops = holding.desktops;
    const [first] = holding.ready as [Env];
    const second = await replaceOverHttp(first);
    expect([second.env_id, second.server_url, fake.closed]).toEqual(['d-0r1', 'http://d-0r1', ['d-0']]);
    expect(desktops.envs).toEqual([second]);
    await expect(replaceOverHttp(first)).rejects.toThrow('could not be replaced: d-0: no such desktop is held here');
    const other = { ...second, replace_url: server.url.replace(/\w+$/, 'guess') };
    await expect(replaceOverHttp(other)).rejects.toThrow('gave no answer');
    await server.close();
    await expect(replaceOverHttp(second)).rejects.toThrow('nobody is there to replace this desktop');
    await holding.close();
  });
});
