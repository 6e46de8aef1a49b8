import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../../lib/curation/lock.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { makeFolderSync } from '../../lib/stream/files.ts';

/** The lock of a folder of runs. */
export const LOCK_FILE = '.lock';

/**
 * Makes a folder of runs and takes its lock: a second program there would remove what the first is making. The system
 * gives the lock back however the process ends.
 * @param what `make ablation`
 * @param instead what else to do than to wait, where the lock is taken
 * @throws DartError with exit code 75 where another has it, 2 where the folder cannot be written
 */
export function lockRuns(dir: string, what: string, instead = ', or RUN_DIR=… for another folder'): () => void {
  try {
    makeFolderSync(dir);
    accessSync(dir, constants.W_OK);
  } catch (error) {
    throw fileError(error, 'write', dir);
  }
  try {
    return takeLock(join(dir, LOCK_FILE), what);
  } catch (error) {
    if (!(error instanceof DartError) || error.exitCode !== EXIT.locked) throw error;
    const { message, exitCode } = error;
    throw new DartError(message, { where: dir, hint: `wait for it${instead}`, exitCode, cause: error });
  }
}
