import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Progress, TaskProgress } from './task_progress.ts';

describe('TaskProgress with a store', () => {
  afterEach(() => void vi.useRealTimers());

  it('asks of those tasks that groups are planned of, and of each once a second', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const asked: string[] = [];
    const read = async (some: readonly string[]) => {
      asked.push(...some);
      return new Map<string, Progress>([['os/21', { successRate: asked.length / 10, longestSuccess: 4 }]]);
    };
    const progress = new TaskProgress(16, { read });
    expect(await progress.of('os/21')).toEqual({ successRate: 0.1, longestSuccess: 4 });
    expect(await progress.of('os/39')).toEqual({ successRate: null, longestSuccess: null });
    expect((await progress.of('os/21')).successRate).toBe(0.1);
    expect(asked).toEqual(['os/21', 'os/39']);
    vi.advanceTimersByTime(1001);
    expect((await progress.of('os/21')).successRate).toBe(0.3);
    expect(asked).toEqual(['os/21', 'os/39', 'os/21']);
  });
});
