import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DartError } from '../../errors.ts';
import { removeLeftDesktops } from '../../guest/x11/owner.ts';
import { AnySignal } from '../../stream/any_signal.ts';
import { parseRecord } from '../../stream/parse.ts';
import type { Env } from '../../stream/records.ts';
import { CannotStart } from '../environment.ts';

/** How long a server may take to end its desktop, ms. */
const END_MS = 20_000;

/** The compiled entry of the guest server, from a checkout's sources as well as from dist/. */
function entry(): string {
  const paths = ['../../..', '../../../dist'].map((root) =>
    join(import.meta.dirname, root, 'commands', 'env', 'guest_server.js'),
  );
  const found = paths.find((path) => existsSync(path));
  if (found) return found;
  throw new DartError('the guest server is not compiled', { where: 'xvfb', hint: 'make build' });
}

/** The process of one desktop: its session's supervisor and its server. */
export class ServerProcess {
  readonly #id: string;
  readonly #child: ChildProcess;
  readonly #log: string;
  readonly #ended: Promise<DartError>;
  #death: DartError | null = null;

  /** @param detach It goes on when this process ends; else it ends with it, however that comes. */
  constructor(id: string, args: readonly string[], log: string, detach: boolean) {
    this.#id = id;
    this.#log = log;
    const descriptor = openSync(log, 'a', 0o600);
    const hold = detach ? [] : ['--hold'];
    this.#child = spawn(process.execPath, [entry(), '--id', id, ...hold, ...args], {
      // Ctrl-C at a terminal reaches all of its processes: this one ends when we say so.
      detached: true,
      stdio: [detach ? 'ignore' : 'pipe', 'pipe', descriptor],
    });
    closeSync(descriptor);
    this.#child.stdin?.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      const end = (what: string) => {
        const said = lastLine(this.#log);
        const Kind = /cannot listen on/.test(said) ? CannotStart : DartError;
        this.#death ??= new Kind(`the desktop's server ${what}${said}`, { where: id });
        resolve(this.#death);
      };
      this.#child.once('error', (cause) => end(`does not start (${cause.message})`));
      this.#child.once('exit', (code, signal) => end(`has ended (${signal ?? `exit code ${code}`})`));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The desktop's record, when it is ready. Rejects where it ends before, or takes too long. */
  async ready(limitMs: number, signal?: AbortSignal): Promise<Env> {
    const stop = new AnySignal([signal], limitMs);
    const stopped = new Promise<never>((_, reject) => {
      const say = () => {
        if (signal?.aborted) reject(signal.reason);
        else
          reject(new DartError(`it is not ready after ${limitMs / 1000} s${lastLine(this.#log)}`, { where: this.#id }));
      };
      if (stop.signal.aborted) say();
      else stop.signal.addEventListener('abort', say, { once: true });
    });
    const line = await Promise.race([this.#firstLine(), stopped]).finally(() => stop.release());
    return parseRecord('env', JSON.parse(line), this.#id);
  }

  /** Nothing more is read from it, and it keeps no process alive. */
  release(): void {
    this.#child.stdout?.destroy();
    this.#child.unref();
    (this.#child.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  }

  /** Ends the desktop, politely at first. */
  async end(): Promise<void> {
    // What a server that was killed has left.
    if (this.#death) return removeLeftDesktops();
    this.#child.ref();
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  /** Why a call failed: because the server has ended, or else as it was said. */
  async explain(error: unknown): Promise<unknown> {
    if (this.#death) return this.#death;
    // A connection breaks a moment before the end of the process is heard of.
    const soon = new Promise<unknown>((resolve) => setTimeout(() => resolve(error), 200));
    return Promise.race([this.#ended, soon]);
  }

  #firstLine(): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = '';
      this.#child.stdout!.on('data', (data: Buffer) => {
        text += data.toString();
        if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
      });
      void this.#ended.then(reject);
    });
  }
}

/** The last thing that a log says, for a message. */
function lastLine(log: string): string {
  try {
    const line = readFileSync(log, 'utf8').trim().split('\n').at(-1);
    return line ? `: ${line}` : '';
  } catch {
    return '';
  }
}
