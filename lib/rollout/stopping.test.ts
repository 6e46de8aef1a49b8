import { afterEach, describe, expect, it, vi } from 'vitest';
import { stoppingOf } from './stopping.ts';

const THIRTY_DAYS_MS = 2_592_000_000;

afterEach(() => {
  vi.useRealTimers();
});

describe('stoppingOf', () => {
  it('gives what is under way 30 days where that is the grace', () => {
    vi.useFakeTimers();
    const told = new AbortController();
    const { stop, abort } = stoppingOf(told.signal, THIRTY_DAYS_MS, () => false);
    told.abort();
    expect(stop.aborted).toBe(true);
    vi.advanceTimersByTime(THIRTY_DAYS_MS - 1);
    expect(abort.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(abort.aborted).toBe(true);
  });

  it('gives up at once what nobody wants, or without a grace', () => {
    const told = new AbortController();
    const unwanted = stoppingOf(told.signal, THIRTY_DAYS_MS, (reason) => reason === 'gone');
    const hasty = stoppingOf(told.signal, 0, () => false);
    told.abort('gone');
    expect(unwanted.abort.aborted).toBe(true);
    expect(hasty.abort.aborted).toBe(true);
  });
});
