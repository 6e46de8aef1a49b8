import { describe, expect, it } from 'vitest';
import { Waiting } from './waiting.ts';

describe('Waiting', () => {
  it('hands on what comes, ticks when nothing comes, stops when told to', async () => {
    const stop = new AbortController();
    const waiting = new Waiting(stop.signal, 5);
    expect(await waiting.for(Promise.resolve(7))).toBe(7);
    let give: (value: number) => void = () => {};
    const slow = new Promise<number>((resolve) => {
      give = resolve;
    });
    expect(await waiting.for(slow)).toBe('tick');
    expect(await waiting.for(slow)).toBe('tick');
    give(8);
    expect(await waiting.for(slow)).toBe(8);
    await expect(waiting.for(Promise.reject(new Error('broken input')))).rejects.toThrow('broken input');
    const endless = new Promise<number>(() => {});
    setTimeout(() => stop.abort(), 1);
    const long = new Waiting(stop.signal, 60_000);
    expect(await long.for(endless)).toBe('stop');
    expect(await waiting.for(Promise.resolve(9))).toBe('stop');
  });

  it('counts only the time that it waits', async () => {
    const waiting = new Waiting(new AbortController().signal, 20);
    await waiting.for(new Promise(() => {}));
    const clock = waiting.clock;
    expect(clock).toBeGreaterThanOrEqual(15);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(waiting.clock).toBe(clock);
  });
});
