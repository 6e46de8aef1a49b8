import { describe, expect, it } from 'vitest';
import { type Clock, RateGate } from './rate.ts';

/** Time that passes only while somebody waits. */
class FakeClock implements Clock {
  time = 0;

  now(): number {
    return this.time;
  }

  async sleep(ms: number): Promise<void> {
    this.time += ms;
  }
}

async function times(clock: FakeClock, gate: RateGate, requests: number): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < requests; i++) {
    await gate.pass();
    seen.push(Math.round(clock.time));
  }
  return seen;
}

describe('the gate for requests', () => {
  it('lets a burst through, then so many a second', async () => {
    const clock = new FakeClock();
    expect(await times(clock, new RateGate(10, 3, clock), 6)).toEqual([0, 0, 0, 100, 200, 300]);
  });

  it('gathers at most one burst while nobody asks', async () => {
    const clock = new FakeClock();
    const gate = new RateGate(10, 2, clock);
    await times(clock, gate, 2);
    clock.time += 60_000;
    expect(await times(clock, gate, 3)).toEqual([60_000, 60_000, 60_100]);
  });

  it('holds everybody for as long as the server says', async () => {
    const clock = new FakeClock();
    const gate = new RateGate(10, 5, clock);
    await gate.pass();
    gate.pause(7000);
    gate.pause(2000);
    expect(await times(clock, gate, 2)).toEqual([7000, 7000]);
  });

  it('keeps the order in which they came', async () => {
    const clock = new FakeClock();
    const gate = new RateGate(10, 1, clock);
    const order: number[] = [];
    await Promise.all([0, 1, 2, 3].map((i) => gate.pass().then(() => order.push(i))));
    expect(order).toEqual([0, 1, 2, 3]);
  });
});
