import { afterEach, describe, expect, it, vi } from 'vitest';
import { LimitReached } from '../../lib/training/stopping.ts';
import { StopSwitch } from './stop.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('StopSwitch', () => {
  it('lets a run of 30 days have its 30 days', () => {
    vi.useFakeTimers();
    const seconds = 2_592_000;
    const { signal } = new StopSwitch(new AbortController().signal, seconds);
    vi.advanceTimersByTime(seconds * 1000 - 1);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toBeInstanceOf(LimitReached);
  });
});
