/** Between two looks at standard output: how long an unread command runs on at most. */
const EVERY_MS = 200;

/**
 * Calls `gone` once when the reader of a pipe has left. Node notices that only when it writes, which a command that
 * waits for a desktop does rarely.
 * @param hungUp Whether the reader of the file descriptor has gone, by poll(2).
 * @returns stops looking.
 */
export function watchReader(fd: number, hungUp: (fd: number) => boolean, gone: () => void, everyMs = EVERY_MS) {
  const timer = setInterval(() => {
    if (!hungUp(fd)) return;
    clearInterval(timer);
    gone();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
