import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { packageRoot } from '../../lib/cli/paths.ts';
import { DartError } from '../../lib/errors.ts';

/** A bash line that runs in the checkout, with `bin/` as a user would call it. */
export interface Line {
  child: ChildProcess;
  /** Its exit code, once all processes of the line have ended; 130 or 143 after a signal. */
  ended: Promise<number>;
}

/** Lines that have not ended: nobody else would end them, since no Ctrl-C reaches their groups. */
const running = new Set<ChildProcess>();

/** Files that every process of a line has open too: a lock on them is held until the last of them has ended. */
const inherited = new Set<number>();

/** Lets lines inherit an open file. Returns what ends that. */
export function inherit(fd: number): () => void {
  inherited.add(fd);
  return () => void inherited.delete(fd);
}

/** Where the watchdog of a line has the pipe from us; what is inherited comes after it. */
const LIFE_FD = 3;

/**
 * A line with its watchdog: the pipe ends when we do, however we do, and then all of the line is sent SIGTERM. The line
 * itself has no part of the pipe, and the watchdog none of a lock.
 */
function watched(line: string): string {
  const unlocked = [...inherited].map((_, index) => `${LIFE_FD + 1 + index}>&-`).join(' ');
  const watchdog = `(read -r -u ${LIFE_FD}; kill -TERM 0) ${unlocked} &`;
  return ['trap : TERM', watchdog, 'disown', '{', line, `} ${LIFE_FD}<&-`].join('\n');
}

/**
 * Starts a line. A failure anywhere in a pipe is a failure; what it writes to stdout and stderr goes to our stderr.
 * It has a process group of its own: when `stop` aborts or this process dies, all of the line is sent SIGTERM, and bash
 * waits for all of it.
 */
export function start(line: string, stop?: AbortSignal): Line {
  const child = spawn('bash', ['-o', 'pipefail', '-c', watched(line)], {
    cwd: packageRoot(),
    detached: true,
    stdio: ['ignore', process.stderr, process.stderr, 'pipe', ...inherited],
  });
  const end = () => signalGroup(child.pid, 'SIGTERM');
  stop?.addEventListener('abort', end);
  running.add(child);
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  }).finally(() => {
    (child.stdio[LIFE_FD] as Socket | undefined)?.destroy();
    running.delete(child);
    stop?.removeEventListener('abort', end);
  });
  return { child, ended };
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Runs lines one after another.
 * @param where names what they belong to, for the error
 * @throws DartError where one fails; the abort reason where `stop` has ended it
 */
export async function runLines(lines: readonly string[], where: string, stop?: AbortSignal): Promise<void> {
  for (const line of lines) {
    stop?.throwIfAborted();
    const code = await start(line, stop).ended;
    stop?.throwIfAborted();
    if (code === 130 || code === 143) throw new Stopped(code);
    if (code !== 0) {
      throw new DartError(`a command ended with exit code ${code}: ${line}`, {
        where,
        hint: 'read its messages above, mend the cause, and run the same command again',
      });
    }
  }
}

/** The reason of a stop by a signal, with the exit code that says so. */
export class Stopped extends Error {
  readonly code: number;

  constructor(code: number) {
    super('stopped');
    this.name = 'Stopped';
    this.code = code;
  }
}

/** Signals that come together (to a process, and to its group) are one. */
const TOGETHER_MS = 500;

/** Aborts with `Stopped` at SIGINT, SIGTERM and SIGHUP. A second one, later, ends the process at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let first = 0;
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(name, () => {
      if (controller.signal.aborted && performance.now() - first > TOGETHER_MS) {
        for (const { pid } of running) signalGroup(pid, 'SIGKILL');
        process.exit(code);
      }
      if (controller.signal.aborted) return;
      first = performance.now();
      controller.abort(new Stopped(code));
    });
  }
  return controller.signal;
}

/** Quotes a word for bash where it has to be. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * A line whose file is there only once the line has ended well. `dart-rollout` writes what it has where it is stopped, so
 * that no trajectory is lost; here a part must not be taken for the whole by who goes on.
 */
export function wholeLine(file: string, line: (output: string) => string): string {
  const part = `${file}.part`;
  return `${line(part)} && ${lineOf('mv', part, file)}`;
}

/** A line of words. */
export function lineOf(...words: (string | number | readonly (string | number)[])[]): string {
  return words.flat().map(String).map(quoted).join(' ');
}
