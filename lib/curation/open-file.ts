import { type FileHandle, open, stat } from 'node:fs/promises';
import { DartError } from '../errors.ts';
import { codeOf } from '../stream/errno.ts';
import { sha256Of } from '../stream/sha256.ts';

/** How far a file has been read, and how to know it again. */
export interface FilePlace {
  /** The name that was asked for; of a renamed file the one that it had last. */
  path: string;
  inode: number;
  /** Bytes of whole lines that have been read. */
  offset: number;
  /** How many lines those are. */
  lines: number;
  /** sha256 of the first `head_bytes` bytes, which do not change while a file only grows. */
  head: string;
  head_bytes: number;
  /** Bytes of the file when it was read last, a line without its end included. Older cursors do not have it. */
  size?: number;
  /** When it was made, milliseconds since 1970: inodes are used again. 0 or absent where that is not known. */
  born?: number;
  /** Files that had this name earlier and still lie beside it, oldest first: their writers may be at them yet. */
  renamed?: FilePlace[];
}

/** A regular file that is open for reading; what is known of it stays true when it is renamed. */
export interface OpenFile {
  path: string;
  handle: FileHandle;
  inode: number;
  /** Bytes when it was opened. */
  size: number;
  /** When it was made; 0 where the file system does not say. */
  born: number;
}

const NEWLINE = 10;

/**
 * Opens a file; null where there is none of that name.
 * @throws DartError for what has no place to go on from: a pipe, a device, a socket.
 */
export async function openIfThere(path: string): Promise<OpenFile | null> {
  try {
    // Before it is opened, since opening a pipe waits for its writer.
    const found = await stat(path);
    if (found.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
    if (!found.isFile()) throw noFile(path, found.isFIFO());
    const handle = await open(path, 'r');
    const { ino, size, birthtimeMs } = await handle.stat();
    return { path, handle, inode: ino, size, born: birthtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function noFile(path: string, isPipe: boolean): DartError {
  const kind = isPipe ? 'a pipe' : 'no regular file';
  return new DartError(`it is ${kind}, which has no place for --cursor to go on from`, {
    where: path,
    hint: `cat ${path} >> FILE and dart-curate FILE --cursor NAME, or no --cursor`,
  });
}

/** Behind the last newline of the file; not before `start`. */
export async function endOfLines({ handle, size }: OpenFile, start: number): Promise<number> {
  const chunk = Buffer.alloc(1 << 16);
  for (let end = size; end > start; ) {
    const from = Math.max(start, end - chunk.length);
    const { bytesRead } = await handle.read(chunk, 0, end - from, from);
    const newline = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline !== -1) return from + newline + 1;
    end = from;
  }
  return start;
}

/** sha256 of the first bytes, in hexadecimal digits. */
export async function headOf({ handle }: OpenFile, bytes: number): Promise<string> {
  const head = Buffer.alloc(bytes);
  const { bytesRead } = await handle.read(head, 0, bytes, 0);
  return sha256Of(head.subarray(0, bytesRead));
}

/** True where the file begins as it did, and has not become shorter than what was read of it. */
export async function isSame(file: OpenFile, place: FilePlace): Promise<boolean> {
  return file.size >= place.offset && (await headOf(file, place.head_bytes)) === place.head;
}

/** True where it is the file of `place`, whatever is in it now: one that was cut and not one that has come in its place. */
export function isSameInode(file: OpenFile, place: FilePlace): boolean {
  const isKnown = file.born > 0 && place.born !== undefined && place.born > 0;
  return file.inode === place.inode && (isKnown ? file.born === place.born : file.size < place.offset);
}
