import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { DartError } from '../errors.ts';
import { codeOf, fileError } from './errno.ts';
import { removeLeftovers, temporaryName } from './temporary.ts';
import { outputError } from './writer.ts';

/**
 * Makes a folder and those above it that are missing. Node's own `recursive` mkdir never ends where the file system
 * says "no such file" to a new folder in one that is there, as /proc does.
 * @throws DartError naming the path: no permission, a file in the way.
 */
export async function makeFolder(path: string): Promise<void> {
  const there = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!there) makeFolderSync(path);
}

/** As `makeFolder`, and back only when it is there. */
export function makeFolderSync(path: string): void {
  try {
    makeParts(resolve(path));
  } catch (error) {
    throw fileError(error, 'make the folder', path);
  }
}

/**
 * Makes a folder, and makes sure that there can be new files in it by making one: modes do not say it of file systems that
 * are read-only or of another machine.
 * @param doing what for, for the message: `write`, `publish`
 * @throws DartError naming the path
 */
export function makeWritableFolderSync(path: string, doing: string): void {
  makeFolderSync(path);
  try {
    const probe = temporaryName(join(path, 'probe'));
    writeFileSync(probe, '', { flag: 'wx' });
    rmSync(probe);
  } catch (error) {
    throw fileError(error, doing, path);
  }
}

/** From the nearest folder that is there downwards. */
function makeParts(folder: string): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeParts(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it a moment ago.
    if (isFolder(folder)) return;
    throw obstacle(error, folder) ?? error;
  }
}

/** What the system's own words would leave a person to guess. */
function obstacle(error: unknown, folder: string): DartError | null {
  const parent = dirname(folder);
  const refuse = (reason: string) =>
    new DartError(`cannot make the folder: ${reason}`, { where: folder, hint: 'another folder', cause: error });
  if (codeOf(error) === 'EEXIST') return refuse('there is a file of that name');
  if (codeOf(error) === 'ENOENT' && isFolder(parent)) return refuse(`there can be no new folders in ${parent}`);
  return null;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Writes a file so that it is there whole or not at all: a temporary file in the same folder, fsync, rename, fsync of the
 * folder. Missing folders are made, and what killed processes left half-written beside it is removed. A device or a pipe (`/dev/stdout`, `/dev/null`) is written to as it is.
 * @throws DartError naming the path: a full disk, a read-only folder.
 */
export async function writeWhole(path: string, data: string | Uint8Array): Promise<void> {
  await writeWholeStream(path, [data]);
}

/** As `writeWhole`, from parts that come one after another. An error of theirs leaves the old file in place. */
export async function writeWholeStream(
  path: string,
  parts: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  const file = await WholeFile.open(path);
  try {
    for await (const part of parts) await file.write(part);
    await file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** A file in the making: `commit` puts it in its place, `discard` leaves what was there before. */
export class WholeFile {
  readonly path: string;
  /** For those who write to a stream; `commit` waits for it. */
  readonly stream: Writable;
  readonly #handle: FileHandle;
  /** Null where the target is no regular file and is written to directly. */
  readonly #temporary: string | null;
  #failure: unknown;

  private constructor(path: string, temporary: string | null, handle: FileHandle) {
    this.path = path;
    this.#temporary = temporary;
    this.#handle = handle;
    this.stream = streamInto(handle);
    this.stream.on('error', (error) => {
      this.#failure ??= outputError(error, path);
    });
  }

  static async open(path: string): Promise<WholeFile> {
    try {
      if (isSpecial(path)) return new WholeFile(path, null, await open(path, 'w'));
      const target = await followLinks(path);
      if (isFolder(target)) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
      await makeFolder(dirname(target));
      // Before the disk is needed: runs that are killed one after the other would fill it.
      removeLeftovers(dirname(target));
      const temporary = temporaryName(target);
      return new WholeFile(target, temporary, await open(temporary, 'wx', modeOf(target)));
    } catch (error) {
      throw fileError(error, 'write', path);
    }
  }

  async write(part: string | Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await new Promise<void>((done, fail) => {
      this.stream.write(part, (error) => (error ? fail(outputError(error, this.path)) : done()));
    });
  }

  async commit(): Promise<void> {
    try {
      this.stream.end();
      await finished(this.stream).catch(() => {});
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#temporary === null) return await this.#handle.close();
      await this.#handle.sync();
      await this.#handle.close();
      await rename(this.#temporary, this.path);
      await syncFolder(dirname(this.path));
    } catch (error) {
      await this.discard();
      throw fileError(error, 'write', this.path);
    }
  }

  async discard(): Promise<void> {
    this.stream.destroy();
    await this.#handle.close().catch(() => {});
    if (this.#temporary !== null) await unlink(this.#temporary).catch(() => {});
  }
}

/** All bytes of each part, from where the last one ended. */
function streamInto(handle: FileHandle): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      handle.writeFile(chunk).then(() => done(), done);
    },
  });
}

/** True for what is there and is neither a file nor a folder: a device, a pipe, a socket. */
function isSpecial(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

/** The file that a symbolic link stands for, so that renaming does not replace the link. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return resolve(path);
    throw error;
  }
}

function modeOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o666) & 0o777;
}

/** Makes a rename last through a power cut. Not every file system allows it. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
