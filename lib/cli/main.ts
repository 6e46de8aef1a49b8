import { readFileSync } from 'node:fs';
import { outputError, ReaderGone } from '../stream/writer.ts';
import { watchReader } from './hangup.ts';
import { runCommand } from './run.ts';
import type { CommandSpec, Io } from './spec.ts';
import { Interrupted, isAbort, STOPPING, skippedCleanUps, stopCode } from './stop.ts';

export interface MainOptions {
  /** Loads the addon's poll(2): whether the reader behind a file descriptor has gone. Absent: noticed at the next write. */
  pollHangup?: () => Promise<(fd: number) => boolean>;
}

/** What is left running after the command has ended gets this long before the process ends over it. */
const LINGER_MS = 2000;
const WATCH_AFTER_MS = 200;
/** One Ctrl-C may arrive twice: from the terminal, and from a parent that passes it on. */
const SAME_PRESS_MS = 300;

/**
 * The whole of an executable: runs the command on the process's own streams and sets `process.exitCode`. Signals and a
 * closed standard output abort the command's signal; the second signal ends the process at once.
 */
export async function main(spec: CommandSpec, options: MainOptions = {}): Promise<void> {
  const stop = new AbortController();
  const restore = catchSignals(spec.name, stop);
  catchBugs(spec.name, stop);
  process.stdout.on('error', (error) => stop.abort(outputError(error, 'stdout')));
  // There is nobody to tell.
  process.stderr.on('error', () => {});
  const unwatch = watchStdout(options, stop);
  const stdin = new OpenedStdin();
  const code = await runCommand(spec, process.argv.slice(2), stdin.addTo({ signal: stop.signal }));
  unwatch();
  stdin.close();
  process.exitCode = code;
  await Promise.all([drained(process.stdout), drained(process.stderr)]);
  setTimeout(() => process.exit(), LINGER_MS).unref();
  restore();
}

/** Standard input, opened by those who read it, and let go of when they are done: the writer hears of that. */
class OpenedStdin {
  #opened: NodeJS.ReadStream | null = null;

  addTo(io: Partial<Io>): Partial<Io> {
    const open = () => {
      this.#opened = process.stdin;
      return this.#opened;
    };
    return Object.defineProperty(io, 'stdin', { get: open, enumerable: true });
  }

  close(): void {
    this.#opened?.destroy();
  }
}

function catchSignals(command: string, stop: AbortController): () => void {
  const names = (Object.keys(STOPPING) as NodeJS.Signals[]).filter((name) => name !== 'SIGHUP' || !hangupIgnored());
  let first = 0;
  const heard = (signal: NodeJS.Signals) => {
    const now = Date.now();
    if (first === 0) {
      first = now;
      stop.abort(new Interrupted(signal));
    } else if (now - first > SAME_PRESS_MS) {
      for (const text of skippedCleanUps()) process.stderr.write(`${command}: ${text}\n`);
      process.exit(STOPPING[signal]);
    }
  };
  for (const name of names) process.on(name, heard);
  return () => {
    for (const name of names) process.off(name, heard);
  };
}

/** True under nohup: listening would undo it. */
function hangupIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return mask !== undefined && (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
  } catch {
    return false;
  }
}

/** An error that nothing caught leaves the state unknown: it is told, and the process ends. */
function catchBugs(command: string, stop: AbortController): void {
  const caught = (error: unknown) => {
    if (stopCode(error) !== undefined || (stop.signal.aborted && isAbort(error))) return;
    const stack = error instanceof Error ? error.stack : String(error);
    const text = `${command}: ${stack}\n${command}: this is a bug in the toolkit; please report it with the lines above\n`;
    process.stderr.write(text, () => process.exit(2));
  };
  process.on('uncaughtException', caught);
  process.on('unhandledRejection', caught);
}

/** Begins a little later, so that a command that only prints something does not load the addon for it. */
function watchStdout(options: MainOptions, stop: AbortController): () => void {
  let unwatch = () => {};
  const begin = async () => {
    const hungUp = await options.pollHangup?.();
    if (hungUp) unwatch = watchReader(1, hungUp, () => stop.abort(new ReaderGone()));
  };
  const timer = process.stdout.isTTY ? undefined : setTimeout(begin, WATCH_AFTER_MS).unref();
  return () => {
    clearTimeout(timer);
    unwatch();
  };
}

/** Resolves when what was written has left the process, or cannot. */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}
