import { describe, expect, it } from 'vitest';
import { Steady } from './steady.ts';
import { StoreTrouble } from './trouble.ts';

const away = () => new StoreTrouble('away', 'no server answers there', { hint: 'starting it' });

/** Work that fails with each of `errors` in turn and then succeeds. */
function failing(...errors: unknown[]) {
  let calls = 0;
  return {
    work: async () => {
      const error = errors[calls++];
      if (error !== undefined) throw error;
      return calls;
    },
  };
}

function steady(patienceMs: number, signal?: AbortSignal) {
  const said: string[] = [];
  const notify = (message: string, level: string) => said.push(`${level}: ${message}`);
  return { said, steady: new Steady({ place: 'db:3306/dart', patienceMs, notify, signal }) };
}

describe('operations of the store', () => {
  it('are tried again without a word where another transaction was in the way', async () => {
    const { steady: runner, said } = steady(0);
    const conflict = () => new StoreTrouble('conflict', 'deadlock');
    expect(await runner.run(failing(conflict(), conflict()).work)).toBe(3);
    await expect(runner.run(() => Promise.reject(conflict()))).rejects.toThrow('deadlock');
    expect(said).toEqual([]);
  });

  it('wait for a store that is away, and say so once', async () => {
    const { steady: runner, said } = steady(60_000);
    const results = await Promise.all([
      runner.run(failing(away(), away()).work),
      runner.run(failing(away(), away(), away()).work),
    ]);
    expect(results).toEqual([3, 4]);
    expect(said[0]).toBe('warn: lost the store db:3306/dart (no server answers there); trying again for 60 s');
    // The second one may find it away once more after the first one found it.
    expect(said.filter((line) => line.startsWith('info: found the store db:3306/dart again after'))).not.toEqual([]);
  });

  it('end all together when it stays away', async () => {
    const { steady: runner } = steady(300);
    const gone = /^the store stayed away for \d+(\.\d)? m?s: no server answers there$/;
    await expect(runner.run(() => Promise.reject(away()))).rejects.toThrow(gone);
    // Not even tried.
    await expect(runner.run(async () => 1)).rejects.toThrow(gone);
  });

  it('do not wait when the command was told to stop', async () => {
    const stop = new AbortController();
    const { steady: runner } = steady(3_600_000, stop.signal);
    const waiting = runner.run(() => Promise.reject(away()));
    stop.abort();
    await expect(waiting).rejects.toThrow(/^the store stayed away for \d+(\.\d)? m?s: no server answers there$/);
  });

  it('fail at once for everything else', async () => {
    const { steady: runner, said } = steady(60_000);
    const full = new StoreTrouble('stuck', 'no space left for the store');
    await expect(runner.run(failing(full).work)).rejects.toBe(full);
    const bug = new TypeError('x is not a function');
    await expect(runner.run(failing(bug).work)).rejects.toBe(bug);
    expect(said).toEqual([]);
  });
});
