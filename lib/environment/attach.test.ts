import { describe, expect, it } from 'vitest';
import { createEmbeddedGuest } from '../desktop/guest.ts';
import { DartError } from '../errors.ts';
import type { Guest } from '../guest/guest.ts';
import { serveGuest } from '../guest/http_server.ts';
import type { Env } from '../stream/records.ts';
import { AttachDriver, openServers } from './attach.ts';
import { NO_WAITS } from './environment.ts';
import { FakeGuest } from './fake.testing.ts';
import { openEnvironments } from './open.ts';
import { EnvironmentPool } from './pool.ts';

const env = (env_id: string, server_url: string | null = `http://127.0.0.1/${env_id}`): Env => ({
  type: 'env',
  v: 1,
  env_id,
  driver: 'docker',
  state: 'ready',
  server_url,
  screen: { width: 16, height: 12 },
  boot_ms: 1,
});

/** A desktop without a reset of its own, as OSWorld's servers are. */
function plain(id: string): Guest {
  return new Proxy(new FakeGuest(id), {
    has: (guest, name) => name !== 'reset' && name in guest,
    get: (guest, name) => {
      const value = Reflect.get(guest, name, guest);
      return typeof value === 'function' ? value.bind(guest) : value;
    },
  });
}

describe('AttachDriver', () => {
  it('connects to each desktop once and keeps its id', async () => {
    const urls: string[] = [];
    const pool = new EnvironmentPool([
      new AttachDriver([env('a'), env('b')], {
        connect: async ({ env_id, server_url }) => {
          urls.push(server_url!);
          return new FakeGuest(env_id);
        },
      }),
    ]);
    const leased = [await pool.lease(), await pool.lease()];
    expect(leased.map(({ id, driver }) => `${id} ${driver}`)).toEqual(['a docker', 'b docker']);
    expect(urls).toEqual(['http://127.0.0.1/a', 'http://127.0.0.1/b']);
    await leased[0]!.reset(5);
    await leased[0]!.reset(6);
    expect((leased[0]!.guest as FakeGuest).log).toEqual(['reset 5', 'reset 6']);
    await pool.close();
  });

  it('uses a desktop that cannot reset itself once, with the waits of the protocol', async () => {
    const driver = new AttachDriver([env('a')], { connect: async ({ env_id }) => plain(env_id) });
    const started = await driver.start(0, 'a');
    expect(started.waits).toEqual({ afterResetMs: 60_000, afterActionMs: 2_000, beforeEvaluateMs: 20_000 });
    await started.reset(1);
    await expect(started.reset(2)).rejects.toMatchObject({
      message: 'this desktop was used and cannot go back to a clean state by itself',
      where: 'a',
    });
  });

  it('names a desktop that does not answer, and one without a server', async () => {
    const dead = new AttachDriver([env('a')], {
      connect: async () => new FakeGuest('a', { screenshot: () => Promise.reject(new Error('refused')) }),
    });
    await expect(new EnvironmentPool([dead], { retryMs: 0 }).lease()).rejects.toThrow(
      'no desktop is left; the last one failed: refused',
    );
    expect(() => new AttachDriver([env('a', null)], { connect: async () => plain('a') })).toThrow(
      'this desktop has no server_url',
    );
  });

  it('drives an embedded desktop behind a server as one in this process', async () => {
    const bare = createEmbeddedGuest('far');
    const server = await serveGuest(bare);
    try {
      const pool = await openEnvironments([{ ...env('far', server.url), driver: 'embedded' }]);
      const far = await pool.lease();
      expect([far.id, far.driver, far.guest.screen, far.waits]).toEqual(['far', 'embedded', bare.screen, NO_WAITS]);
      await far.reset(5);
      const near = createEmbeddedGuest('near');
      await near.reset(5);
      const look = async (guest: Guest) => Buffer.from((await guest.screenshot()).rgb());
      expect((await look(far.guest)).equals(await look(near))).toBe(true);
      await pool.close();
    } finally {
      await server.close();
    }
  });
});

describe('AttachDriver, of desktops that cannot reset themselves', () => {
  it('asks for another one in the place of a used one, where its record says how', async () => {
    const replace = async ({ env_id }: Env) => env(`${env_id}x`);
    const driver = new AttachDriver([{ ...env('a'), replace_url: 'http://127.0.0.1:1/replace' }], {
      connect: async ({ env_id }) => plain(env_id),
      replace,
    });
    const pool = new EnvironmentPool([driver]);
    const first = await pool.lease();
    await first.reset(1);
    pool.release(first);
    const second = await pool.lease();
    await second.reset(2);
    expect([first.id, second.id]).toEqual(['a', 'ax']);
    expect(pool.counts).toMatchObject({ booted: 2, replaced: 1, retired: 0 });
    await pool.close();
  });

  it('replaces one that does not answer any more', async () => {
    const dead = new Set(['a']);
    const screenshot = (id: string) => () => {
      if (dead.has(id)) throw new Error('refused');
    };
    const driver = new AttachDriver([{ ...env('a'), replace_url: 'http://127.0.0.1:1/replace' }], {
      connect: async ({ env_id }) => new FakeGuest(env_id, { screenshot: screenshot(env_id) }),
      replace: async () => env('b'),
    });
    expect((await driver.start(0, 'a')).id).toBe('b');
  });

  it('gives a used one up for good, where nobody replaces it', async () => {
    const driver = new AttachDriver([env('a')], { connect: async ({ env_id }) => plain(env_id) });
    const pool = new EnvironmentPool([driver]);
    const first = await pool.lease();
    await first.reset(1);
    pool.release(first);
    await expect(pool.lease()).rejects.toThrow('was used and cannot go back to a clean state');
    expect(pool.counts).toMatchObject({ retired: 1, failures: { boot: 0 } });
    await pool.close();
  });

  it('finds out by the first reset whether a server of which nothing is known has one', async () => {
    const refused = new DartError('POST /reset failed', { cause: new Error('status 404: Not Found') });
    const resets: number[] = [];
    const reset = (seed: number) => {
      resets.push(seed);
      if (seed === 1) throw refused;
    };
    const driver = new AttachDriver([env('a'), env('b')], {
      connect: async ({ env_id }) => new FakeGuest(env_id, { reset }),
    });
    const without = await driver.start(0, 'a');
    await without.reset(1);
    expect([without.disposable, resets]).toEqual([true, [1]]);
    await expect(without.reset(2)).rejects.toThrow('was used');
    const having = await driver.start(1, 'b');
    await having.reset(2);
    await having.reset(3);
    expect([having.disposable, resets]).toEqual([false, [1, 2, 3]]);
  });

  it('takes the waits from the record', async () => {
    const waits = { after_reset_s: 5, after_action_s: 0.5, before_evaluate_s: 0 };
    const driver = new AttachDriver([{ ...env('a'), waits }], { connect: async ({ env_id }) => plain(env_id) });
    const started = await driver.start(0, 'a');
    expect(started.waits).toEqual({ afterResetMs: 5000, afterActionMs: 500, beforeEvaluateMs: 0 });
  });
});

describe('openServers', () => {
  it('names desktops by their addresses, without tokens', async () => {
    const driver = await openServers(['http://:secret@a:5000', 'http://b:5000/desk/']);
    expect([driver.name, driver.capacity]).toEqual(['attach', 2]);
    expect(() => openServers(['http://a:5000', 'http://a:5000'])).toThrow(
      expect.objectContaining({ message: 'this desktop is given twice', where: 'a:5000' }),
    );
    expect(() => openServers(['http://'])).toThrow(
      expect.objectContaining({ message: 'not the URL of a server', where: 'attach, URL 1' }),
    );
  });
});
