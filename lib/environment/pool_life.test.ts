import { describe, expect, it } from 'vitest';
import { delay } from '../stream/timer.ts';
import { type Driver, type Environment, NO_WAITS } from './environment.ts';
import { FakeGuest } from './fake.testing.ts';
import { type DesktopFailure, EnvironmentPool } from './pool.ts';

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until something holds; a test that waits for ever fails by its time limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await soon();
}

/** Desktops behind servers, as containers are: each boots when the test says so, and dies when the test says so. */
class Machines implements Driver {
  readonly name = 'machine';
  readonly capacity: number;
  readonly log: string[] = [];
  readonly dead = new Set<string>();
  /** Boots under way, to be let go on by the test; null: all boot at once. */
  gates: Map<string, () => void> | null = null;
  readonly #disposable: boolean;

  constructor(capacity: number, disposable = true) {
    this.capacity = capacity;
    this.#disposable = disposable;
  }

  async start(_place: number, id: string): Promise<Environment> {
    this.log.push(`boot ${id}`);
    const { gates } = this;
    if (gates) await new Promise<void>((resolve) => gates.set(id, resolve));
    const screenshot = () => {
      if (this.dead.has(id)) throw new Error(`${id} is dead`);
    };
    return {
      ...{ id, driver: this.name, waits: NO_WAITS, serverUrl: `http://${id}`, disposable: this.#disposable },
      guest: new FakeGuest(id, { screenshot }),
      reset: async () => {},
      close: async () => void this.log.push(`close ${id}`),
    };
  }
}

describe('a pool of desktops that are good for one rollout', () => {
  it('replaces one in the background after the lease that reset it, and only then', async () => {
    const machines = new Machines(1);
    const pool = new EnvironmentPool([machines]);
    const first = await pool.lease();
    pool.release(first);
    const again = await pool.lease();
    expect(again.id).toBe('machine-0');
    await again.reset(1);
    pool.release(again);
    expect((await pool.lease()).id).toBe('machine-0r1');
    expect(machines.log).toEqual(['boot machine-0', 'close machine-0', 'boot machine-0r1']);
    expect(pool.counts).toEqual({
      ...{ booted: 2, replaced: 1, retired: 0 },
      failures: { boot: 0, setup: 0, rollout: 0, idle: 0 },
    });
    await pool.close();
  });

  it('leases a spare at once while the used one is replaced, and never more than it may', async () => {
    const machines = new Machines(3);
    const pool = new EnvironmentPool([machines], { leases: 2 });
    expect(pool.size).toBe(2);
    await until(() => pool.ids.length === 3);
    const [one, two] = [await pool.lease(), await pool.lease()];
    let third: Environment | null = null;
    const waiting = pool.lease().then((env) => (third = env));
    await soon();
    expect(third).toBeNull();
    // From here on nothing boots: who waits gets the spare.
    machines.gates = new Map();
    await one.reset(1);
    pool.release(one);
    expect((await waiting).id).toBe('machine-2');
    await until(() => machines.gates!.has('machine-0r1'));
    for (const open of machines.gates.values()) open();
    pool.release(two);
    await pool.close();
  });

  it('starts no more at once than it may', async () => {
    const machines = new Machines(3);
    machines.gates = new Map();
    const pool = new EnvironmentPool([machines], { starts: 2 });
    await until(() => machines.gates!.size === 2);
    await soon();
    expect(machines.log).toEqual(['boot machine-0', 'boot machine-1']);
    machines.gates.get('machine-1')!();
    await until(() => machines.gates!.size === 3);
    expect(machines.log.at(-1)).toBe('boot machine-2');
    expect((await pool.lease()).id).toBe('machine-1');
    for (const open of machines.gates.values()) open();
    await pool.close();
  });
});

describe('a pool of desktops that can die', () => {
  it('replaces a dead idle one when it looks round', async () => {
    const machines = new Machines(1);
    const failures: DesktopFailure[] = [];
    const pool = new EnvironmentPool([machines], { healthMs: 0, onFailure: (failure) => failures.push(failure) });
    await until(() => pool.ids.length === 1);
    machines.dead.add('machine-0');
    pool.checkIdle();
    await until(() => pool.ids.includes('machine-0r1'));
    expect(failures).toMatchObject([{ env_id: 'machine-0', reason: 'idle', retired: false }]);
    expect(pool.counts).toMatchObject({ booted: 2, replaced: 1, failures: { idle: 1 } });
    expect(machines.log).toContain('close machine-0');
    await pool.close();
  });

  it('looks before it leases one that was not seen for a while', async () => {
    const machines = new Machines(2, false);
    const pool = new EnvironmentPool([machines], { freshMs: 0 });
    await until(() => pool.ids.length === 2);
    machines.dead.add('machine-0');
    expect((await pool.lease()).id).toBe('machine-1');
    expect((await pool.lease()).id).toBe('machine-0r1');
    await pool.close();
  });

  it('counts by where they failed', async () => {
    const pool = new EnvironmentPool([new Machines(1)]);
    pool.release(await pool.lease(), { failed: new Error('no such file'), duringSetup: true });
    pool.release(await pool.lease(), { failed: new Error('gone') });
    await pool.lease();
    expect(pool.counts.failures).toEqual({ boot: 0, setup: 1, rollout: 1, idle: 0 });
    expect([pool.failures, pool.counts.replaced]).toEqual([2, 2]);
    await pool.close();
  });
});

describe('a pool that changes its size', () => {
  it('takes further desktops, and tells of their places', async () => {
    const pool = new EnvironmentPool([new Machines(1)]);
    const grown: number[] = [];
    pool.onGrowth((places) => grown.push(places));
    await pool.lease();
    const waiting = pool.lease();
    pool.add(new Machines(2));
    await waiting;
    expect([pool.size, grown]).toEqual([3, [2]]);
    await pool.close();
  });

  it('gives nobody a desktop that has gone for good', async () => {
    const machines = new Machines(2);
    const pool = new EnvironmentPool([machines]);
    const [one] = [await pool.lease(), await until(() => pool.ids.length === 2)];
    pool.retire('machine-1');
    const waiting = pool.lease();
    pool.retire(one.id);
    await expect(waiting).rejects.toThrow('no desktop is left; there is none');
    pool.release(one);
    await until(() => machines.log.includes('close machine-0'));
    expect([pool.size, pool.counts.retired, machines.log.includes('boot machine-0r1')]).toEqual([0, 2, false]);
    await pool.close();
  });

  it('is closed while more desktops start than Node expects listeners at a signal, without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const start: Driver['start'] = (_place, _id, signal) => delay(60_000, signal).then(() => Promise.reject());
    const pool = new EnvironmentPool([{ name: 'slow', capacity: 12, start }]);
    // Warnings come a turn later.
    await soon();
    await pool.close();
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('leaves the desktops as they are when it is abandoned', async () => {
    const machines = new Machines(1);
    const pool = new EnvironmentPool([machines]);
    await pool.lease();
    await pool.abandon();
    expect(machines.log).toEqual(['boot machine-0']);
    await expect(pool.lease()).rejects.toThrow('the desktops are being closed');
  });
});
