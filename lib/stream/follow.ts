import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileError } from './errno.ts';

const CHUNK = 1 << 16;
const NEWLINE = Buffer.from('\n');

export interface FollowOptions {
  /** How long to wait at the end before looking again. */
  pollMs?: number;
  /** Told when the file has become shorter than what was read of it: some of what was in it may never have been read. */
  onCut?: (message: string) => void;
}

/**
 * The bytes of a file that others are writing to: what is there, then what comes, until the signal aborts. A line without
 * newline at the end is one that is still being written. A file that is cut is read from its beginning again.
 */
export async function* followFile(
  path: string,
  signal: AbortSignal,
  { pollMs = 200, onCut }: FollowOptions = {},
): AsyncGenerator<Uint8Array> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    throw fileError(error, 'read', path);
  }
  try {
    for (let at = 0; !signal.aborted; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, at);
      at += bytesRead;
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      else {
        const { size } = await file.stat();
        if (size < at) {
          onCut?.(cutMessage(path, at, size));
          at = 0;
          // Whatever was unfinished stays so: joined to a new line it would spoil that one, too.
          yield NEWLINE;
        } else await sleep(pollMs, undefined, { signal }).catch(() => {});
      }
    }
  } finally {
    await file.close();
  }
}

function cutMessage(path: string, read: number, size: number): string {
  return `${path}: the file was cut: ${read} bytes of it were read and it has ${size} now; it is read from its beginning. What came between the last look and the cut is lost. Try: logrotate without copytruncate, and the command started again after a rotation`;
}
