import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { EmbeddedDriver } from './embedded.ts';
import { CannotStart, type Driver } from './environment.ts';
import { FakeGuest } from './fake.testing.ts';
import { type DesktopFailure, EnvironmentPool } from './pool.ts';

const fakes = (count: number) => new EmbeddedDriver(count, (id) => new FakeGuest(id));
const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('EnvironmentPool', () => {
  it('leases each desktop to one holder; the next waits until it is given back', async () => {
    const pool = new EnvironmentPool([fakes(2)]);
    const first = await pool.lease();
    const second = await pool.lease();
    expect([first.id, second.id]).toEqual(['embedded-0', 'embedded-1']);
    const order: string[] = [];
    const third = pool.lease().then((env) => order.push(`third ${env.id}`));
    const fourth = pool.lease().then((env) => order.push(`fourth ${env.id}`));
    await soon();
    expect(order).toEqual([]);
    pool.release(second);
    pool.release(second);
    await third;
    pool.release(first);
    await fourth;
    expect(order).toEqual(['third embedded-1', 'fourth embedded-0']);
    await pool.close();
  });

  it('replaces a desktop that failed and closes the old one', async () => {
    const failures: DesktopFailure[] = [];
    const pool = new EnvironmentPool([fakes(1)], { onFailure: (failure) => failures.push(failure) });
    const old = await pool.lease();
    pool.release(old, { failed: new Error('frozen') });
    const fresh = await pool.lease();
    expect(fresh.id).toBe('embedded-0r1');
    expect((old.guest as FakeGuest).log).toEqual(['close']);
    expect(failures).toMatchObject([{ env_id: 'embedded-0', retired: false }]);
    expect([pool.failures, pool.size]).toEqual([1, 1]);
    await pool.close();
  });

  it('tells what becomes of its desktops', async () => {
    const pool = new EnvironmentPool([fakes(1)]);
    const first = await pool.lease();
    const told: string[] = [];
    pool.watch(({ env_id, state, screen }) => told.push(`${env_id} ${state} ${screen.width}`));
    expect(told).toEqual(['embedded-0 ready 16']);
    pool.release(first, { failed: new Error('frozen') });
    pool.release(await pool.lease());
    await pool.close();
    expect(told.slice(1)).toEqual(['embedded-0 failed 16', 'embedded-0r1 ready 16', 'embedded-0r1 stopped 16']);
  });

  it('does not try again what cannot be started, and says once what to do', async () => {
    const failures: DesktopFailure[] = [];
    let starts = 0;
    const start = () => {
      starts += 1;
      return Promise.reject(new CannotStart('there is no image', { where: 'docker', hint: 'build one' }));
    };
    const driver: Driver = { name: 'docker', capacity: 1, start };
    const pool = new EnvironmentPool([driver], { onFailure: (failure) => failures.push(failure) });
    const error = await pool.lease().catch((thrown: unknown) => thrown as DartError);
    expect((error as DartError).describe()).toBe(
      'docker:1: no desktop is left; the last one failed: docker: there is no image. Try: build one',
    );
    expect([starts, failures.map(({ retired }) => retired)]).toEqual([1, [true]]);
    await pool.close();
  });

  it('retires a desktop after three failures in a row, and says so when none is left', async () => {
    const pool = new EnvironmentPool([fakes(1)]);
    for (let i = 0; i < 2; i++) pool.release(await pool.lease(), { failed: new Error('frozen') });
    pool.release(await pool.lease());
    for (let i = 0; i < 2; i++) pool.release(await pool.lease(), { failed: new Error('frozen') });
    expect(pool.size).toBe(1);
    const last = await pool.lease();
    const waiting = pool.lease();
    pool.release(last, { failed: new Error('frozen again') });
    const none = { message: 'no desktop is left; the last one failed: frozen again', where: 'embedded:1' };
    await expect(waiting).rejects.toMatchObject(none);
    await expect(pool.lease()).rejects.toMatchObject(none);
    expect(pool.size).toBe(0);
    await pool.close();
  });

  it('retires a desktop that answers only after a hundred set-ups that failed in a row, and says so', async () => {
    const pool = new EnvironmentPool([fakes(1)]);
    const failed = new DartError('set-up step config[0] (launch) failed: no gimp', { where: 'gimp/a' });
    const fail = async (times: number) => {
      for (let i = 0; i < times; i++) pool.release(await pool.lease(), { failed, duringSetup: true });
    };
    await fail(99);
    pool.release(await pool.lease());
    await fail(99);
    // Failures of desktops are counted apart.
    for (let i = 0; i < 2; i++) pool.release(await pool.lease(), { failed: new Error('frozen') });
    expect(pool.size).toBe(1);
    await fail(1);
    expect([pool.size, pool.counts.failures]).toEqual([0, { boot: 0, setup: 199, rollout: 2, idle: 0 }]);
    const error = await pool.lease().catch((thrown: unknown) => thrown as DartError);
    expect((error as DartError).describe()).toBe(
      'embedded:1: no desktop is left; the last one answers, but 100 set-ups in a row failed on it: gimp/a: set-up step config[0] (launch) failed: no gimp. Try: installing on the desktops what the tasks need, or tasks that they have the programs for',
    );
    await pool.close();
  });

  it('counts a desktop that cannot be started', async () => {
    let starts = 0;
    const broken: Driver = {
      name: 'docker',
      capacity: 2,
      start: async (place) => {
        starts += 1;
        throw new Error(`no such image (place ${place})`);
      },
    };
    const pool = new EnvironmentPool([broken], { retryMs: 0 });
    await expect(pool.lease()).rejects.toMatchObject({
      message: expect.stringMatching(/^no desktop is left; the last one failed: no such image/),
      where: 'docker:2',
    });
    expect(starts).toBe(6);
    await pool.close();
  });

  it('a lease that is given up takes no desktop', async () => {
    const pool = new EnvironmentPool([fakes(1)]);
    const env = await pool.lease();
    const controller = new AbortController();
    const given = pool.lease(controller.signal);
    const next = pool.lease();
    controller.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    pool.release(env);
    expect((await next).id).toBe('embedded-0');
    await pool.close();
  });

  it('closes all desktops, and those who wait hear of it', async () => {
    const pool = new EnvironmentPool([fakes(2)]);
    const guests = [await pool.lease(), await pool.lease()].map((env) => env.guest as FakeGuest);
    const waiting = pool.lease();
    const closed = pool.close();
    await expect(waiting).rejects.toThrow('the desktops are being closed');
    await closed;
    expect(guests.map((guest) => guest.log)).toEqual([['close'], ['close']]);
  });
});
