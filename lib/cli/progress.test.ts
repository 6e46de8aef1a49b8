import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testIo } from './io.testing.ts';
import { Progress } from './progress.ts';

describe('--progress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function progressOf(options: Record<string, string | boolean>, terminal: Record<string, unknown> = {}, env = {}) {
    const io = testIo({ env });
    Object.assign(io.stderr, terminal);
    const context = { io, options, positionals: [], command: 'dart-x' };
    return { io, progress: new Progress(context, 'run', { lineEveryMs: 10_000 }) };
  }

  it('asks by itself where no news comes, a line every 10 s', () => {
    const { io, progress } = progressOf({ progress: 'auto' });
    let asked = 0;
    progress.watch(() => `look ${++asked}`);
    vi.advanceTimersByTime(9999);
    expect(io.err()).toBe('');
    vi.advanceTimersByTime(10_001);
    expect(io.err()).toBe('dart-x: run: look 1\ndart-x: run: look 2\n');
    progress.done('over');
    vi.advanceTimersByTime(60_000);
    expect(io.err()).toMatch(/look 2\ndart-x: run: over\n$/);
  });

  it('tells details between news, and never in their place', () => {
    const { io, progress } = progressOf({ progress: 'auto' });
    vi.advanceTimersByTime(10_000);
    progress.detail('1 of 3');
    progress.detail('2 of 3');
    vi.advanceTimersByTime(1000);
    progress.update('update 1');
    vi.advanceTimersByTime(9999);
    progress.detail('1 of 3 again');
    vi.advanceTimersByTime(1);
    progress.detail('2 of 3 again');
    progress.update('update 2');
    const told = ['1 of 3', 'update 1', '2 of 3 again', 'update 2'];
    expect(io.err()).toBe(told.map((line) => `dart-x: run: ${line}\n`).join(''));
    progress.stop();
  });

  it('writes lines to a terminal that asks for them', () => {
    const { io, progress } = progressOf({ progress: 'lines' }, { isTTY: true, columns: 80 });
    progress.watch(() => 'x');
    vi.advanceTimersByTime(10_000);
    expect(io.err()).toBe('dart-x: run: x\n');
    progress.stop();
  });

  it('with none says only the last word, and with --quiet nothing', () => {
    const none = progressOf({ progress: 'none' });
    none.progress.watch(() => 'x');
    none.progress.update('y');
    vi.advanceTimersByTime(60_000);
    none.progress.done('over');
    expect(none.io.err()).toBe('dart-x: run: over\n');
    const quiet = progressOf({ progress: 'lines', quiet: true });
    quiet.progress.watch(() => 'x');
    vi.advanceTimersByTime(60_000);
    quiet.progress.done('over');
    expect(quiet.io.err()).toBe('');
  });

  it('draws a bar on a terminal, in CI only when asked, and never into a pipe', async () => {
    vi.useRealTimers();
    const drawn = async (how: string, terminal: Record<string, unknown>, env = {}, timeout = 60_000) => {
      const methods = { cursorTo: () => true, clearLine: () => true, moveCursor: () => true, getColorDepth: () => 1 };
      const { io, progress } = progressOf({ progress: how }, { ...methods, ...terminal }, env);
      await vi.dynamicImportSettled();
      progress.update('half way');
      const text = await vi.waitUntil(() => io.err(), { timeout }).catch(() => '');
      progress.stop();
      return text;
    };
    const terminal = { isTTY: true, columns: 80 };
    expect(await drawn('auto', terminal)).toContain('run');
    expect(await drawn('bar', terminal, { CI: '1' })).toContain('run');
    // What draws has been loaded above: a moment is enough for what must not come.
    expect(await drawn('auto', terminal, { CI: '1' }, 300)).toBe('');
    expect(await drawn('bar', {}, {}, 300)).toBe('');
  });
});
