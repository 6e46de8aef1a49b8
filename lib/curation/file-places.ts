import type { FileHandle } from 'node:fs/promises';
import { fileError } from '../stream/errno.ts';
import { endOfLines, type FilePlace, headOf, isSame, isSameInode, type OpenFile, openIfThere } from './open-file.ts';
import { between, findCompressed, findCopy, findRenamed } from './rotated-files.ts';

/** Whole lines that have not been read yet. */
export interface FilePart {
  path: string;
  /** Open, so that a rename in between does no harm; whoever reads it closes it. */
  file: FileHandle;
  start: number;
  end: number;
  /** Where reading stands after it; its `lines` is that before the part, and whoever reads it counts on. */
  place: FilePlace;
}

/** What there is to read of one input, and where reading will stand after it. */
export interface NewParts {
  parts: FilePart[];
  next: FilePlace;
  /** What a person should hear of. */
  warnings: string[];
}

/**
 * What has come into a file since `place`, and into the files that had its name before. A file that was renamed is read
 * on as long as it lies in the same folder; one that was replaced or cut is read from its beginning. A last line without
 * newline waits: its writer may be at it.
 * @throws DartError where it cannot be read, or is no regular file.
 */
export async function newParts(path: string, place: FilePlace | undefined): Promise<NewParts> {
  const found: NewParts = { parts: [], next: { ...EMPTY, path }, warnings: [] };
  try {
    const own = await openIfThere(path);
    if (place === undefined) found.next = await take(found, own ?? missing(path), { ...EMPTY, path });
    else await goOn(found, own, place);
    return found;
  } catch (error) {
    await closeParts(found.parts);
    throw fileError(error, 'read', path);
  }
}

/** Closes what has not been read. */
export async function closeParts(parts: readonly FilePart[]): Promise<void> {
  for (const part of parts) await part.file.close().catch(() => {});
}

const HEAD_BYTES = 4096;
const EMPTY: FilePlace = { path: '', inode: 0, offset: 0, lines: 0, head: '', head_bytes: 0 };

async function goOn(found: NewParts, own: OpenFile | null, place: FilePlace): Promise<void> {
  const { path } = place;
  const renamed: FilePlace[] = [];
  for (const earlier of place.renamed ?? []) {
    const file = await findRenamed(path, earlier);
    if (file) renamed.push(await follow(found, file, earlier, earlier.size));
    else await tellUnread(found, path, earlier);
  }
  if (own && own.inode === place.inode && (await isSame(own, place))) {
    found.next = await take(found, own, place);
    found.next.renamed = renamed;
    return;
  }
  const moved = await findRenamed(path, place);
  if (!own && moved) {
    // Known under its old name still: a new file of that name makes it an earlier one.
    found.warnings.push(`${path}: there is no such file now; its renamed one, ${moved.path}, is read on`);
    found.next = Object.assign(await follow(found, moved, place, place.size), { path, renamed });
    return;
  }
  if (!own) throw missing(path);
  // A copy put back in its place has another inode and the same beginning.
  if (!moved && place.head_bytes > 0 && (await isSame(own, place))) {
    found.next = await take(found, own, place);
    found.next.renamed = renamed;
    return;
  }
  const isCut = isSameInode(own, place);
  const copy = isCut ? await findCopy(path, place) : null;
  const whole = moved ?? copy;
  if (whole) renamed.push(await follow(found, whole, place, undefined));
  const last = whole ? whole.path : await tellUnread(found, path, place);
  if (isCut) found.warnings.push(cutWarning(own, place, copy));
  else if (last === null) found.warnings.push(`${path}: the file was replaced; it is read from its beginning`);
  if (last !== null) {
    const known = new Set([own.inode, ...renamed.map((one) => one.inode)]);
    for (const file of await between(path, last, known)) {
      renamed.push(await follow(found, file, { ...EMPTY, path: file.path }, undefined));
    }
  }
  found.next = await take(found, own, { ...EMPTY, path });
  found.next.renamed = renamed;
}

/** What a file that was cut may have cost, and how not to lose anything. */
function cutWarning(own: OpenFile, place: FilePlace, copy: OpenFile | null): string {
  const sizes = `it had ${place.size ?? place.offset} bytes when it was read last and has ${own.size} now`;
  const lost = copy
    ? `Its copy ${copy.path} is read on; lines that came between the copy and the cut are in neither`
    : `Lines that came after line ${place.lines} and before the cut are lost`;
  return `${place.path}: the file was cut (${sizes}). ${lost}. Try: logrotate without copytruncate, so that it renames`;
}

/** Adds what is new in a renamed file. A line without its end is told of once, `told` being the size that it was told at. */
async function follow(found: NewParts, file: OpenFile, place: FilePlace, told: number | undefined): Promise<FilePlace> {
  const next = await take(found, file, { ...place, path: file.path });
  const torn = file.size - next.offset;
  if (torn > 0 && file.size !== told) {
    found.warnings.push(
      `${file.path}: the last line of this renamed file is cut short (its ${torn} bytes have no newline yet); it is read when the line is whole. Try: let its writer end`,
    );
  }
  return next;
}

/** Adds what is new in a file. */
async function take(found: NewParts, file: OpenFile, place: FilePlace): Promise<FilePlace> {
  const start = place.offset;
  const end = await endOfLines(file, start);
  const head_bytes = Math.min(HEAD_BYTES, end);
  const head = await headOf(file, head_bytes);
  const next = {
    path: place.path,
    inode: file.inode,
    offset: end,
    lines: place.lines,
    head,
    head_bytes,
    size: file.size,
    born: file.born,
  };
  if (end > start) found.parts.push({ path: file.path, file: file.handle, start, end, place: next });
  else await file.handle.close();
  return next;
}

/**
 * Warns of what can no longer be read of a file that is not there any more under any name.
 * @returns the compressed file that it has become, or null.
 */
async function tellUnread(found: NewParts, path: string, place: FilePlace): Promise<string | null> {
  const packed = await findCompressed(path, place);
  if (packed && packed.unread !== 0) {
    const amount = packed.unread === null ? 'what came after it' : `the last ${packed.unread} bytes`;
    found.warnings.push(
      `${packed.path}: compressed before it was read to its end: read up to line ${place.lines}, not read: ${amount}. Try: ${packed.unpack} ${packed.path} | tail -n +${place.lines + 1} | dart-curate, and delaycompress in logrotate`,
    );
  }
  const torn = (place.size ?? place.offset) - place.offset;
  if (!packed && torn > 0 && place.path !== path) {
    found.warnings.push(
      `${place.path}: the file is gone with a last line that never ended: ${torn} bytes were not read`,
    );
  }
  return packed?.path ?? null;
}

function missing(path: string): never {
  throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
}
