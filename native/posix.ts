import { native } from './addon.ts';
import { checkInteger, checkOptions, refuse } from './check.ts';

/**
 * Exclusive advisory lock on an open file, flock(2). Returns false when another process holds it; without `nonblocking`
 * it waits, and the event loop with it. The lock ends when the file is closed or the process ends, however it ends.
 */
export function flock(fd: number, options: { nonblocking?: boolean } = {}): boolean {
  checkOptions(options, 'the options of flock', { nonblocking: true });
  const { nonblocking = true } = options;
  if (typeof nonblocking !== 'boolean') refuse('a boolean', 'nonblocking', nonblocking);
  return native().addon.flock({ fd: checkInteger(fd, 'fd', 0), nonblocking });
}

/** True when the reader of the pipe or socket behind `fd` has gone: Node itself notices only when it writes. */
export function pollHangup(fd: number): boolean {
  return native().addon.pollHangup({ fd: checkInteger(fd, 'fd', 0) });
}
