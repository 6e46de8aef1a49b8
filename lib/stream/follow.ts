import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileError } from './errno.ts';

const CHUNK = 1 << 16;

/**
 * The bytes of a file that others are writing to: what is there, then what comes, until the signal aborts. A line without
 * newline at the end is one that is still being written.
 * @param pollMs How long to wait at the end before looking again.
 */
export async function* followFile(path: string, signal: AbortSignal, pollMs = 200): AsyncGenerator<Uint8Array> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    throw fileError(error, 'read', path);
  }
  try {
    while (!signal.aborted) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, null);
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      else await sleep(pollMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    await file.close();
  }
}
