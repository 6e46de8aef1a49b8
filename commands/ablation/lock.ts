import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DartError, EXIT } from '../../lib/errors.ts';
import { lockFile } from '../../lib/store/lock.ts';
import { makeWritableFolderSync } from '../../lib/stream/files.ts';
import { inherit } from './shell.ts';

/** The lock of a folder of runs. */
export const LOCK_FILE = '.lock';

/**
 * Makes a folder of runs and takes its lock: a second program there would remove what the first is making. The commands
 * that this one starts hold the lock too, so that the system gives it back when the last of them has ended, however
 * this process ends.
 * @param what `make ablation`
 * @param instead what else to do than to wait, where the lock is taken
 * @throws DartError with exit code 75 where another has it, 2 where the folder cannot be written
 */
export function lockRuns(dir: string, what: string, instead = ', or RUN_DIR=… for another folder'): () => void {
  makeWritableFolderSync(dir, 'write');
  const file = join(dir, LOCK_FILE);
  try {
    const { fd, release } = lockFile(file, what);
    const keep = inherit(fd);
    return () => {
      keep();
      release();
    };
  } catch (error) {
    if (!(error instanceof DartError) || error.exitCode !== EXIT.locked) throw error;
    const { exitCode } = error;
    const message = isHolderGone(file) ? ORPHANS : error.message;
    throw new DartError(message, { where: dir, hint: `wait for it${instead}`, exitCode, cause: error });
  }
}

const ORPHANS = 'a run that was killed has commands that are still ending';

/** True where the process that wrote itself into a lock file of this machine is no more. */
function isHolderGone(file: string): boolean {
  const [, pid, host] = /^process (\d+) on (\S+),/.exec(readFileSync(file, 'utf8')) ?? [];
  if (pid === undefined || host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
