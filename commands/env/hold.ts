import { fstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Io } from '../../lib/cli/spec.ts';
import { type AnyRecord, SCHEMA_VERSION } from '../../lib/stream/records.ts';

const LOOK_MS = 50;
/** A reader behind another one (`| tee FILE | …`) is only noticed by writing: within 5 s, two beats. */
const BEAT_MS = 2000;

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

/**
 * Writes a heartbeat into a pipe every two seconds, unless the last one is not read yet: `tee` and its like end only
 * when they have something to hand on and nobody takes it.
 * @returns stops it.
 */
export function beat(
  io: Pick<Io, 'stdout'>,
  write: (record: AnyRecord) => Promise<void>,
  everyMs = BEAT_MS,
): () => void {
  const { fd } = io.stdout as { fd?: number };
  if (fd === undefined || !isPipe(fd)) return () => {};
  const timer = setInterval(() => {
    if (io.stdout.writableLength > 0) return;
    // A reader that has gone stops the command by its signal.
    write({ type: 'event', v: SCHEMA_VERSION, event: 'heartbeat', command: 'dart-env up' }).catch(() => {});
  }, everyMs);
  return () => clearInterval(timer);
}

function isPipe(fd: number): boolean {
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
}
