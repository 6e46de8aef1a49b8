import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { flock } from '../../native/index.ts';
import { DartError, EXIT } from '../errors.ts';
import { fileError } from '../stream/errno.ts';
import { makeFolderSync } from '../stream/files.ts';

/** A lock that is held. */
export interface FileLock {
  /** The open file: a process that inherits it holds the lock too, until it ends. */
  fd: number;
  /** Gives it back. */
  release: () => void;
}

const NOTHING_DONE = 'wait for it; nothing was read or written';

/** What whoever comes second is told, beside who has the lock. */
export interface TakenWords {
  message: string;
  where: string;
  hint: string;
}

/**
 * Takes flock(2) on a file, which is made where it is missing and stays there. The system gives the lock back however
 * the process ends, so there is nothing to clean up after a crash.
 * @param what for the message to whoever comes second: `dart-curate --cursor nightly`.
 * @returns what gives the lock back.
 * @throws DartError with exit code 75 that says who holds it, or 2 where the file cannot be made.
 */
export function takeLock(path: string, what: string): () => void {
  return lockFile(path, what).release;
}

/** As `takeLock`, with the open file, and words for what is locked where a path does not say it. */
export function lockFile(path: string, what: string, words: Partial<TakenWords> = {}): FileLock {
  let file: number;
  try {
    makeFolderSync(dirname(path));
    file = openSync(path, 'a+');
  } catch (error) {
    throw fileError(error, 'lock', path);
  }
  if (!flock(file)) {
    closeSync(file);
    const { message = 'another run holds the lock', where = path, hint = NOTHING_DONE } = words;
    throw new DartError(`${message}${holderIn(path)}`, { where, hint, exitCode: EXIT.locked });
  }
  ftruncateSync(file);
  writeSync(file, `process ${process.pid} on ${hostname()}, ${what}\n`);
  const release = () => {
    ftruncateSync(file);
    closeSync(file);
  };
  return { fd: file, release };
}

function holderIn(path: string): string {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return text === '' ? '' : `: ${text}`;
  } catch {
    return '';
  }
}
