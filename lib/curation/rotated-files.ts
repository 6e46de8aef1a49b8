import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { sha256Of } from '../stream/sha256.ts';
import { type FilePlace, isSame, type OpenFile, openIfThere } from './open-file.ts';

/** Endings of compressed files, and what prints their contents. */
const UNPACK: Readonly<Record<string, string>> = { gz: 'zcat', xz: 'xzcat', bz2: 'bzcat', zst: 'zstdcat' };
const PACKED = /\.(gz|xz|bz2|zst)$/;

/** A compressed file that holds what was being read. */
export interface Compressed {
  path: string;
  /** Bytes that were not read; null where that cannot be told without unpacking it. */
  unread: number | null;
  unpack: string;
}

/** The file of `place`, if it lies in the folder of `path` under another name. */
export async function findRenamed(path: string, place: FilePlace): Promise<OpenFile | null> {
  for (const name of await namesBeside(path)) {
    const other = join(dirname(path), name);
    const found = await stat(other).catch(() => null);
    if (other === path || !found?.isFile() || found.ino !== place.inode) continue;
    const file = await openIfThere(other);
    if (file && file.inode === place.inode && (await isSame(file, place))) return file;
    await file?.handle.close();
  }
  return null;
}

/**
 * The copy that `copytruncate` made of the file of `place` before it was cut: by logrotate's names, of another inode, and
 * with the same beginning.
 */
export async function findCopy(path: string, place: FilePlace): Promise<OpenFile | null> {
  if (place.head_bytes === 0) return null;
  for (const name of await namesBeside(path)) {
    if (PACKED.test(name) || rankOf(path, name) === null) continue;
    const file = await openIfThere(join(dirname(path), name));
    if (file && (await isSame(file, place))) return file;
    await file?.handle.close();
  }
  return null;
}

/**
 * Files that had the name of `path` after `last` had it, oldest first: two rotations between two runs leave one that was
 * never seen. Known by logrotate's names, NAME.1 after NAME.2 and NAME-20260102 after NAME-20260101.
 * @param known inodes of those that are read already.
 */
export async function between(path: string, last: string, known: ReadonlySet<number>): Promise<OpenFile[]> {
  const limit = rankOf(path, last);
  if (limit === null) return [];
  const later: { rank: number; name: string }[] = [];
  for (const name of await namesBeside(path)) {
    const rank = PACKED.test(name) ? null : rankOf(path, name);
    if (rank !== null && rank > limit && rank < 0 === limit < 0) later.push({ rank, name });
  }
  const files: OpenFile[] = [];
  for (const { name } of later.sort((a, b) => a.rank - b.rank)) {
    const file = await openIfThere(join(dirname(path), name));
    if (file && !known.has(file.inode)) files.push(file);
    else await file?.handle.close();
  }
  return files;
}

/** Later files have higher ranks: minus the number of NAME.3, or the date of NAME-20260101; null for other names. */
function rankOf(path: string, other: string): number | null {
  const own = basename(path);
  const name = basename(other).replace(PACKED, '');
  if (!name.startsWith(own)) return null;
  const [, number, date] = /^(?:\.(\d{1,4})|[.-](\d{8,14}))$/.exec(name.slice(own.length)) ?? [];
  if (number !== undefined) return -Number(number);
  return date === undefined ? null : Number(date.padEnd(14, '0'));
}

/** The compressed form of the file of `place` in the folder; of those that cannot be looked into the newest. */
export async function findCompressed(path: string, place: FilePlace): Promise<Compressed | null> {
  const names = (await namesBeside(path)).filter((name) => name.startsWith(basename(path)) && PACKED.test(name));
  let guess: (Compressed & { since: number }) | null = null;
  for (const name of names) {
    const other = join(dirname(path), name);
    const ending = PACKED.exec(name)![1]!;
    const found = await stat(other).catch(() => null);
    if (!found?.isFile()) continue;
    if (ending === 'gz') {
      if (!(await beginsAs(other, place))) continue;
      // Both are numbers of 32 bits, which wrap around.
      const unread = ((await unpackedSize(other)) - place.offset) >>> 0;
      return { path: other, unread, unpack: UNPACK.gz! };
    }
    if (!guess || found.mtimeMs > guess.since) {
      guess = { path: other, unread: null, unpack: UNPACK[ending]!, since: found.mtimeMs };
    }
  }
  return guess;
}

/** Whether the first bytes are those of `place`. A file of which nothing was read cannot be known again. */
async function beginsAs(path: string, place: FilePlace): Promise<boolean> {
  if (place.head_bytes === 0) return false;
  const source = createReadStream(path);
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of source.pipe(createGunzip()) as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= place.head_bytes) break;
    }
  } catch {
    return false;
  } finally {
    source.destroy();
  }
  return sha256Of(Buffer.concat(parts).subarray(0, place.head_bytes)) === place.head;
}

/** What gzip writes last: the size before compression, modulo 2^32. */
async function unpackedSize(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const trailer = Buffer.alloc(4);
    await file.read(trailer, 0, 4, size - 4);
    return trailer.readUInt32LE();
  } finally {
    await file.close();
  }
}

async function namesBeside(path: string): Promise<string[]> {
  return (await readdir(dirname(path))).sort();
}
