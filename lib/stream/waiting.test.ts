import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { untilAborted, Waiting } from './waiting.ts';

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
  it('leaves nothing behind in what it waits for, however often it looks', async () => {
    const stop = new AbortController();
    const waiting = new Waiting(stop.signal, 1);
    const endless = new Promise(() => {});
    const reactions = vi.spyOn(endless, 'then');
    for (let i = 0; i < 5; i++) expect(await waiting.for(endless)).toBe('tick');
    expect(reactions).toHaveBeenCalledTimes(1);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });
});

describe('untilAborted', () => {
  it('hands on items and the end', async () => {
    const seen: number[] = [];
    const all = (async function* () {
      yield* [1, 2, 3];
    })();
    for await (const item of untilAborted(all, new AbortController().signal)) seen.push(item);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('gives nothing when it was aborted before', async () => {
    const seen: number[] = [];
    for await (const item of untilAborted(
      (async function* () {
        yield 1;
      })(),
      AbortSignal.abort(),
    )) {
      seen.push(item);
    }
    expect(seen).toEqual([]);
  });
  it('ends while the stream waits, and tells the stream', async () => {
    const stop = new AbortController();
    let told = false;
    const silent: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          told = true;
          return { done: true, value: undefined };
        },
      }),
    };
    setTimeout(() => stop.abort(), 1);
    for await (const item of untilAborted(silent, stop.signal)) throw new Error(`got ${item}`);
    expect(told).toBe(true);
  });

  it('passes errors of the stream on, but not those that the abort causes', async () => {
    const stop = new AbortController();
    async function* broken() {
      yield 1;
      throw new Error('broken input');
    }
    const read = async (signal: AbortSignal, then: () => void) => {
      for await (const _ of untilAborted(broken(), signal)) then();
    };
    await expect(read(stop.signal, () => {})).rejects.toThrow('broken input');
    await read(stop.signal, () => stop.abort());
  });

  it('lets go of what it has handed on', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { signal } = new AbortController();
    async function* records() {
      for (let i = 0; i < 50; i++) yield { index: i };
    }
    const handedOn: WeakRef<object>[] = [];
    let alive = Number.NaN;
    for await (const record of untilAborted(records(), signal)) {
      handedOn.push(new WeakRef(record));
      if (record.index < 49) continue;
      await new Promise((resolve) => setTimeout(resolve));
      collect();
      alive = handedOn.filter((reference) => reference.deref() !== undefined).length;
    }
    // The last ones may still be on their way.
    expect(alive).toBeLessThan(5);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
