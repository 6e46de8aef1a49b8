import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { lineOf, runLines, Stopped, start, wholeLine } from './shell.ts';

const dir = mkdtempSync(join(tmpdir(), 'dart-shell-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** The process that wrote itself into a file. */
function pidIn(file: string): number {
  const pid = Number(readFileSync(file, 'utf8'));
  expect(pid).toBeGreaterThan(0);
  return pid;
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

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
    const pids = await vi.waitFor(() => [first, second].map(pidIn), { timeout: 60_000 });
    stop.abort(new Stopped(130));
    await expect(running).rejects.toMatchObject({ name: 'Stopped', code: 130 });
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('a line', () => {
  it('ends by its pipe from us, which the line itself does not have', async () => {
    const [first, second, files] = ['one', 'two', 'files'].map((name) => join(dir, name)) as [string, string, string];
    const sleeping = (file: string) => `(echo $BASHPID > ${file}; ls /proc/$BASHPID/fd > ${files}; exec sleep 600)`;
    const line = start(`${sleeping(first)} | (echo $BASHPID > ${second}; exec sleep 600)`);
    const pids = await vi.waitFor(() => [first, second].map(pidIn), { timeout: 60_000 });
    await vi.waitFor(() => expect(readFileSync(files, 'utf8')).toContain('2\n'), { timeout: 60_000 });
    expect(readFileSync(files, 'utf8').split('\n')).not.toContain('3');
    expect(pids.map(isAlive)).toEqual([true, true]);
    (line.child.stdio[3] as Socket).destroy();
    expect(await line.ended).toBe(143);
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it('ends as a whole where its shell is killed', async () => {
    const file = join(dir, 'orphan');
    const line = start(`(echo $BASHPID > ${file}; exec sleep 600) | cat`);
    const pid = await vi.waitFor(() => pidIn(file), { timeout: 60_000 });
    line.child.kill('SIGKILL');
    expect(await line.ended).toBe(143);
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 60_000 });
  });
});

describe('wholeLine', () => {
  it('has its file only where it has ended well', async () => {
    const file = join(dir, 'whole file');
    const writes = (end: string) => (output: string) => `(echo x > ${lineOf(output)}; ${end})`;
    await expect(runLines([wholeLine(file, writes('exit 3'))], 'here')).rejects.toThrow('exit code 3');
    expect([existsSync(file), readFileSync(`${file}.part`, 'utf8')]).toEqual([false, 'x\n']);
    await runLines([wholeLine(file, writes('true'))], 'here');
    expect([existsSync(`${file}.part`), readFileSync(file, 'utf8')]).toEqual([false, 'x\n']);
  });
});

describe('lineOf', () => {
  it('quotes what bash would take apart', () => {
    expect(lineOf('a', ['--policy', 'openai:http://x;model=y'], 3, "it's")).toBe(
      "a --policy 'openai:http://x;model=y' 3 'it'\\''s'",
    );
  });
});
