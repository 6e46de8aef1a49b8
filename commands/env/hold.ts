import { fstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Io } from '../../lib/cli/spec.ts';

const LOOK_MS = 50;

/** Resolves when the command is told to stop. Something else keeps the process alive meanwhile. */
export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Waits until the reader of standard output has left, at most `ms`. Ctrl-C reaches every command of a pipe: the one that
 * reads may still be ending what it has under way. A file has no reader to wait for.
 */
export async function readerLeaves(io: Pick<Io, 'stdout'>, ms: number): Promise<void> {
  const { fd } = io.stdout as { fd?: number };
  if (fd === undefined || !isPipe(fd)) return;
  const { pollHangup } = await import('../../native/index.ts');
  const end = performance.now() + ms;
  while (performance.now() < end && !pollHangup(fd)) await sleep(LOOK_MS);
}

function isPipe(fd: number): boolean {
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
}
