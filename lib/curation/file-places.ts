import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileError } from '../stream/errno.ts';

/** How far a file has been read, and how to know it again. */
export interface FilePlace {
  path: string;
  inode: number;
  /** Bytes of whole lines that have been read. */
  offset: number;
  /** How many lines those are. */
  lines: number;
  /** sha256 of the first `head_bytes` bytes, which do not change while a file only grows. */
  head: string;
  head_bytes: number;
}

/** Whole lines that have not been read yet. */
export interface FilePart {
  path: string;
  start: number;
  end: number;
  /** Lines before `start`. */
  lines: number;
}

/** What there is to read of one input, and where reading will stand after it. */
export interface NewParts {
  parts: FilePart[];
  /** `lines` is that before the last part; whoever reads it counts on. */
  next: FilePlace;
  /** The file was replaced by another one, and what was not read of the old one is not there any more. */
  isReplaced: boolean;
}

const HEAD_BYTES = 4096;
const NEWLINE = 10;

/**
 * What has come into a file since `place`. A file that was rotated (renamed beside a new one of its name) is read to its
 * end first; one that was replaced or cut is read from its beginning. A last line without newline waits: its writer may
 * be at it.
 * @throws DartError where it cannot be read.
 */
export async function newParts(path: string, place: FilePlace | undefined): Promise<NewParts> {
  try {
    const goesOn = place !== undefined && (await isSame(path, place));
    const rotated = place !== undefined && !goesOn ? await findRotated(path, place) : null;
    const first = goesOn ? place : { offset: 0, lines: 0 };
    const own = await partOf(path, first.offset, first.lines);
    const parts = rotated ? [await partOf(rotated, place!.offset, place!.lines), own] : [own];
    const filled = parts.filter((part) => part.end > part.start);
    return {
      parts: filled,
      next: await placeAt(path, own.end, own.lines),
      isReplaced: place !== undefined && !goesOn && rotated === null,
    };
  } catch (error) {
    throw fileError(error, 'read', path);
  }
}

async function partOf(path: string, start: number, lines: number): Promise<FilePart> {
  return withFile(path, async (file) => {
    const end = await endOfLines(file, (await file.stat()).size, start);
    return { path, start, end, lines };
  });
}

/** Behind the last newline before `size`; not before `start`. */
async function endOfLines(file: FileHandle, size: number, start: number): Promise<number> {
  const chunk = Buffer.alloc(1 << 16);
  for (let end = size; end > start; ) {
    const from = Math.max(start, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - from, from);
    const newline = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline !== -1) return from + newline + 1;
    end = from;
  }
  return start;
}

async function placeAt(path: string, offset: number, lines: number): Promise<FilePlace> {
  const head_bytes = Math.min(HEAD_BYTES, offset);
  const { ino } = await stat(path);
  return { path, inode: ino, offset, lines, head: await headOf(path, head_bytes), head_bytes };
}

async function isSame(path: string, place: FilePlace): Promise<boolean> {
  if ((await stat(path)).size < place.offset) return false;
  return (await headOf(path, place.head_bytes)) === place.head;
}

/** The file that had this name, if it lies in the same folder under another one. */
async function findRotated(path: string, place: FilePlace): Promise<string | null> {
  const folder = dirname(path);
  for (const name of (await readdir(folder)).sort()) {
    const other = join(folder, name);
    const found = await stat(other).catch(() => null);
    if (other === path || !found?.isFile() || found.ino !== place.inode) continue;
    if (await isSame(other, place)) return other;
  }
  return null;
}

function headOf(path: string, bytes: number): Promise<string> {
  return withFile(path, async (file) => {
    const head = Buffer.alloc(bytes);
    const { bytesRead } = await file.read(head, 0, bytes, 0);
    return createHash('sha256').update(head.subarray(0, bytesRead)).digest('hex');
  });
}

async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r');
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}
