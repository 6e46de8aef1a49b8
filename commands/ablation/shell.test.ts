import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { lineOf, runLines, Stopped } from './shell.ts';

const dir = mkdtempSync(join(tmpdir(), 'dart-shell-'));
afterAll(() => rmSync(dir, { recursive: true }));

describe('runLines', () => {
  it('ends with the first failure, wherever in a pipe, and names the line', async () => {
    const made = join(dir, 'after');
    const lines = ['exit 3 | true', `touch ${made}`];
    await expect(runLines(lines, 'the second')).rejects.toMatchObject({
      message: 'a command ended with exit code 3: exit 3 | true',
      where: 'the second',
    });
    expect(existsSync(made)).toBe(false);
    await runLines([lines[1]!], 'the second');
    expect(existsSync(made)).toBe(true);
  });

  it('ends every process of a pipe when it is stopped, and waits for them', async () => {
    const [first, second] = [join(dir, 'first'), join(dir, 'second')];
    const stop = new AbortController();
    const sleeping = (file: string) => `(echo $BASHPID > ${file}; exec sleep 600)`;
    const running = runLines([`${sleeping(first)} | ${sleeping(second)}`], 'a pipe', stop.signal);
    const pidIn = (file: string) => {
      const pid = Number(readFileSync(file, 'utf8'));
      expect(pid).toBeGreaterThan(0);
      return pid;
    };
    const pids = await vi.waitFor(() => [first, second].map(pidIn), { timeout: 60_000 });
    stop.abort(new Stopped(130));
    await expect(running).rejects.toMatchObject({ name: 'Stopped', code: 130 });
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('lineOf', () => {
  it('quotes what bash would take apart', () => {
    expect(lineOf('a', ['--policy', 'openai:http://x;model=y'], 3, "it's")).toBe(
      "a --policy 'openai:http://x;model=y' 3 'it'\\''s'",
    );
  });
});
