import { randomBytes } from 'node:crypto';
import type { Env } from '../stream/records.ts';
import { type Driver, sameDesktop } from './environment.ts';
import type { OpenOptions } from './kind.ts';
import { EnvironmentPool, type PoolOptions } from './pool.ts';
import { type DesktopRequest, parseDesktops } from './request.ts';

/** The driver of a request; what it needs is loaded only here. */
export async function openDriver(request: DesktopRequest, options: OpenOptions): Promise<Driver> {
  const { kind, count, spares, values, waits } = request;
  const driver = await kind.open(count + spares, values, options);
  if (Object.keys(waits).length === 0) return driver;
  const start: Driver['start'] = async (...place) => {
    const env = await driver.start(...place);
    return sameDesktop(env, { waits: { ...env.waits, ...waits } });
  };
  return { name: driver.name, capacity: driver.capacity, start };
}

/** The pool of a request: so many leased at once, and so many more that boot ahead. */
export async function openPool(request: DesktopRequest, options: OpenOptions & PoolOptions): Promise<EnvironmentPool> {
  const driver = await openDriver(request, options);
  const { kind, count, starts } = request;
  // Those that can be seen from outside share their names with the desktops of other commands.
  const name = kind.fleet ? `${kind.name}-${randomBytes(3).toString('hex')}` : undefined;
  return new EnvironmentPool([driver], { ...options, name: options.name ?? name, leases: count, starts });
}

export interface EnvironmentOptions extends PoolOptions, Partial<OpenOptions> {}

/**
 * The desktops that a specification names (`embedded:4`), or those that env records describe. They start, and are
 * connected to, after this has resolved.
 * @throws DartError on a specification or a record that cannot be used.
 */
export async function openEnvironments(
  desktops: string | readonly Env[],
  options: EnvironmentOptions = {},
): Promise<EnvironmentPool> {
  if (typeof desktops === 'string') return openPool(parseDesktops(desktops), { runId: 'none', ...options });
  const { openAttached } = await import('./attach.ts');
  return new EnvironmentPool([await openAttached(desktops)], options);
}
