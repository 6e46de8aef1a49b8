import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnySignal } from './any_signal.ts';
import { delay, LONGEST_NODE_MS, ringAfter, ringEvery } from './timer.ts';
import { Waiting } from './waiting.ts';

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('ringAfter', () => {
  it.each([
    ['a second', 1000],
    ['the longest that Node takes', LONGEST_NODE_MS],
    ['a millisecond more', LONGEST_NODE_MS + 1],
    ['30 days', 30 * DAY_MS],
    ['ten years', 3650 * DAY_MS],
  ])('rings once after %s and not before', (_, ms) => {
    const ring = vi.fn();
    ringAfter(ms, ring);
    vi.advanceTimersByTime(ms - 1);
    expect(ring).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(ring).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('knows from which delay on Node itself rings at once', () => {
    expect(LONGEST_NODE_MS).toBe(2_147_483_647);
    const [within, beyond] = [vi.fn(), vi.fn()];
    setTimeout(within, LONGEST_NODE_MS);
    setTimeout(beyond, LONGEST_NODE_MS + 1);
    vi.advanceTimersByTime(1);
    expect(beyond).toHaveBeenCalledTimes(1);
    expect(within).not.toHaveBeenCalled();
  });

  it('never rings after Infinity, nor when it was stopped on the way', () => {
    const ring = vi.fn();
    const endless = ringAfter(Number.POSITIVE_INFINITY, ring);
    const stopped = ringAfter(30 * DAY_MS, ring);
    vi.advanceTimersByTime(26 * DAY_MS);
    stopped.stop();
    vi.advanceTimersByTime(1000 * DAY_MS);
    endless.stop();
    expect(ring).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets the process end on its whole way where it is told to', () => {
    vi.useRealTimers();
    const wound: boolean[] = [];
    const { setTimeout: real } = globalThis;
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((over: () => void, ms: number) => {
      const timer = real(() => {}, ms);
      const unref = timer.unref.bind(timer);
      wound.push(false);
      timer.unref = () => {
        wound[wound.length - 1] = true;
        return unref();
      };
      overs.push(over);
      return timer;
    }) as never);
    const overs: (() => void)[] = [];
    const timer = ringAfter(60 * DAY_MS, () => {}).unref();
    overs[0]!();
    overs[1]!();
    timer.stop();
    spy.mockRestore();
    expect(wound).toEqual([true, true, true]);
  });
});

describe('ringEvery', () => {
  it('rings each 30 days', () => {
    const ring = vi.fn();
    const timer = ringEvery(30 * DAY_MS, ring);
    vi.advanceTimersByTime(30 * DAY_MS - 1);
    expect(ring).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1 + 60 * DAY_MS);
    expect(ring).toHaveBeenCalledTimes(3);
    timer.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('can be stopped by what it rings', () => {
    const timer = ringEvery(5, () => timer.stop());
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('delay', () => {
  it('resolves after 30 days', async () => {
    const done = vi.fn();
    const { signal } = new AbortController();
    const waiting = delay(30 * DAY_MS, signal).then(done);
    await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it("rejects with the signal's reason, also when that aborted before, and leaves no timer", async () => {
    const stop = new AbortController();
    const waiting = delay(30 * DAY_MS, stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(delay(1, stop.signal)).rejects.toThrow('enough');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('what waits with it', () => {
  it('Waiting ticks after 30 days', async () => {
    const ticks = vi.fn();
    const next = new Waiting(new AbortController().signal, 30 * DAY_MS).for(new Promise(() => {})).then(ticks);
    await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1);
    expect(ticks).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await next;
    expect(ticks).toHaveBeenCalledWith('tick');
  });

  it('AnySignal is late after 30 days', () => {
    const any = new AnySignal([], 30 * DAY_MS);
    vi.advanceTimersByTime(30 * DAY_MS - 1);
    expect(any.late).toBe(false);
    vi.advanceTimersByTime(1);
    expect(any.late).toBe(true);
  });
});
