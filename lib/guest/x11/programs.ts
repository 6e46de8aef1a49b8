import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { DartError } from '../../errors.ts';
import { EXECUTE_LIMIT_MS, type ExecuteResult } from '../guest.ts';
import { TookTooLong } from '../took_too_long.ts';
import type { DesktopUser } from './user.ts';

/** Of what a program prints, so much is kept of each stream. */
const MAX_OUTPUT = 16 * 1024 * 1024;

const MESSAGES: Readonly<Record<string, (program: string) => string>> = {
  ENOENT: (program) => `there is no program ${program}, or no folder to run it in`,
  E2BIG: (program) => `the arguments of ${program} are longer than the system takes; a file takes more`,
};

export interface ProgramPlace {
  /** Names the desktop in messages. */
  where: string;
  user: DesktopUser;
  env: Record<string, string>;
  home: string;
  /** A folder of the server's own that the user can pass through. */
  folder: string;
}

export interface RunSettings {
  limitMs?: number;
  signal?: AbortSignal;
  /** The home folder where it is absent. */
  cwd?: string;
  /** Both streams in `output`. */
  merged?: boolean;
  input?: Uint8Array;
}

/** Starts programs in a desktop: as its user, with its environment, each in a session of its own. */
export class Programs {
  readonly #place: ProgramPlace;

  constructor(place: ProgramPlace) {
    this.#place = place;
  }

  /** A child with the desktop's environment and rights. */
  spawn(argv: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const { env, home, user } = this.#place;
    const other = process.getuid?.() !== user.uid;
    try {
      return spawn(argv[0]!, argv.slice(1), {
        cwd: home,
        detached: true,
        ...(other ? { uid: user.uid, gid: user.gid } : {}),
        ...options,
        env: { ...env, ...options.env },
      });
    } catch (error) {
      // Most failures are events; some are thrown.
      throw this.#cannotStart(argv, error as Error);
    }
  }

  /**
   * Runs to the end. What it prints goes through files, so that what it leaves running in the background holds nobody up.
   * Rejects where it does not start, or takes longer than `limitMs`: then it and all of its group are killed.
   */
  async run(argv: readonly string[], settings: RunSettings = {}): Promise<ExecuteResult> {
    const { limitMs = EXECUTE_LIMIT_MS, signal, cwd, merged = false, input } = settings;
    signal?.throwIfAborted();
    const output = this.#file();
    const error = merged ? output : this.#file();
    try {
      const stdio: SpawnOptions['stdio'] = [input ? 'pipe' : 'ignore', output, error];
      const child = this.spawn(argv, { stdio, ...(cwd ? { cwd } : {}) });
      child.stdin?.on('error', () => {});
      child.stdin?.end(input);
      const returncode = await this.#end(child, argv, limitMs, signal);
      const complaint = merged ? '' : readAll(error);
      const cut = [output, ...(merged ? [] : [error])].some((file) => fstatSync(file).size > MAX_OUTPUT);
      return { output: readAll(output), error: cut ? withNote(complaint) : complaint, returncode };
    } finally {
      closeSync(output);
      if (!merged) closeSync(error);
    }
  }

  /** Starts it and resolves once it runs. */
  launch(argv: readonly string[]): Promise<void> {
    const child = this.spawn(argv, { stdio: 'ignore' });
    return new Promise((resolve, reject) => {
      child.once('spawn', () => {
        child.unref();
        resolve();
      });
      child.once('error', (cause) => reject(this.#cannotStart(argv, cause)));
    });
  }

  /** A file with that text which the user can read, until `forget`. */
  script(text: string): string {
    const path = this.#name();
    writeFileSync(path, text, { mode: 0o644, flag: 'wx' });
    return path;
  }

  forget(script: string): void {
    rmSync(script, { force: true });
  }

  #end(child: ChildProcess, argv: readonly string[], limitMs: number, signal?: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      const { where } = this.#place;
      const stop = (error: DartError) => {
        killGroup(child);
        reject(error);
      };
      const timer = setTimeout(() => stop(new TookTooLong(where, limitMs)), limitMs);
      const abort = () => stop(new DartError(`${argv[0]} was ended: nobody waits for it any more`, { where }));
      signal?.addEventListener('abort', abort, { once: true });
      const over = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      child.once('error', (cause) => {
        over();
        reject(this.#cannotStart(argv, cause));
      });
      child.once('exit', (code, name) => {
        over();
        // As Python's subprocess says it.
        resolve(code ?? -(constants.signals[name!] ?? 1));
      });
    });
  }

  #cannotStart(argv: readonly string[], cause: Error): DartError {
    const { code } = cause as NodeJS.ErrnoException;
    const message = MESSAGES[code ?? '']?.(argv[0] ?? '') ?? cause.message;
    return new DartError(message, { where: this.#place.where, cause });
  }

  #file(): number {
    const path = this.#name();
    const descriptor = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return descriptor;
  }

  #name(): string {
    return join(this.#place.folder, randomBytes(12).toString('hex'));
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** What was cut off is no output of the program's: who reads `error` hears of it. */
function withNote(error: string): string {
  const note = `only the first ${MAX_OUTPUT / 2 ** 20} MiB of what it printed were kept; a file takes all of it\n`;
  return error === '' || error.endsWith('\n') ? error + note : `${error}\n${note}`;
}

function readAll(descriptor: number): string {
  const size = Math.min(fstatSync(descriptor).size, MAX_OUTPUT);
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const count = readSync(descriptor, bytes, at, size - at, at);
    if (count === 0) break;
    at += count;
  }
  return bytes.toString('utf8', 0, at);
}
