import type { DartError } from './errors.ts';

/** What `run` throws; fails where it throws nothing. */
export function thrown(run: () => unknown): DartError {
  try {
    run();
  } catch (error) {
    return error as DartError;
  }
  throw new Error('nothing was thrown');
}
