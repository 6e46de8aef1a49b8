import type { BenchMetric } from '../stream/bench.ts';
import type { Environment } from './environment.ts';
import { HeldDesktops } from './held.ts';
import { openEnvironments } from './open.ts';

const GUESTS = 64;
/** Requests of each guest's client, one after another; every third one runs a program. */
const REQUESTS = 60;
const WARM_UP = 6;

/**
 * 64 embedded desktops behind HTTP servers in this process, and a client for each of them in it, too: how long
 * `/screenshot` (a PNG) and `/execute` take while all ask at once.
 */
export async function bench(): Promise<BenchMetric[]> {
  const pool = await openEnvironments(`embedded:${GUESTS}`);
  const held = new HeldDesktops(pool, { count: GUESTS, port: 0 });
  await held.start(async () => {});
  const clients = await openEnvironments(held.envs);
  try {
    const guests = await Promise.all(held.envs.map(() => clients.lease()));
    await Promise.all(guests.map((guest, i) => guest.reset(i)));
    const times: Times = { screenshot: [], execute: [] };
    await Promise.all(guests.map((guest) => ask(guest, WARM_UP, { screenshot: [], execute: [] })));
    const began = performance.now();
    await Promise.all(guests.map((guest) => ask(guest, REQUESTS, times)));
    const seconds = (performance.now() - began) / 1000;
    return [
      ...quantiles('screenshot', times.screenshot),
      ...quantiles('execute', times.execute),
      { name: 'guests/requests', value: (GUESTS * REQUESTS) / seconds, unit: 'requests/s' },
    ];
  } finally {
    await clients.close();
    await held.close();
    await pool.close();
  }
}

interface Times {
  screenshot: number[];
  execute: number[];
}

async function ask({ guest }: Environment, count: number, times: Times): Promise<void> {
  for (let i = 0; i < count; i++) {
    // Something new to draw, as after any action of a policy.
    await guest.act({ type: 'click', x: (i * 37) % 160, y: (i * 23) % 120 });
    const began = performance.now();
    if (i % 3 === 2) await guest.execute(['echo', 'hello']);
    else (await guest.screenshot()).png();
    times[i % 3 === 2 ? 'execute' : 'screenshot'].push(performance.now() - began);
  }
}

function quantiles(what: string, times: number[]): BenchMetric[] {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return [
    { name: `guests/${what}/p50`, value: at(0.5), unit: 'ms' },
    { name: `guests/${what}/p99`, value: at(0.99), unit: 'ms' },
  ];
}
