import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Progress, TaskProgress } from './task_progress.ts';

describe('TaskProgress with a store', () => {
  afterEach(() => void vi.useRealTimers());

  it('asks of twenty tasks at a time, and of the same ones once a second', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const ids = Array.from({ length: 45 }, (_, i) => `os/${i}`);
    const asked: (readonly string[])[] = [];
    const read = async (some: readonly string[]) => {
      asked.push(some);
      return new Map<string, Progress>([['os/21', { successRate: asked.length / 10, longestSuccess: 4 }]]);
    };
    const progress = new TaskProgress(ids, 16, { read });
    expect(await progress.of('os/21')).toEqual({ successRate: 0.1, longestSuccess: 4 });
    expect(await progress.of('os/39')).toEqual({ successRate: null, longestSuccess: null });
    expect(asked).toEqual([ids.slice(20, 40)]);
    await progress.of('os/44');
    expect(asked[1]).toEqual(ids.slice(40));
    vi.advanceTimersByTime(1001);
    expect((await progress.of('os/21')).successRate).toBe(0.3);
    expect(asked[2]).toEqual(ids.slice(20, 40));
    expect(await progress.of('elsewhere')).toEqual({ successRate: null, longestSuccess: null });
    expect(asked).toHaveLength(3);
  });
});
