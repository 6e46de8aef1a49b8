import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DartError } from '../errors.ts';
import { codeOf, fileError } from './errno.ts';
import { makeFolder, makeFolderSync } from './files.ts';
import { sha256Of } from './sha256.ts';
import { temporaryName } from './temporary.ts';

/**
 * Screenshots as content-addressed files, `<2 hex>/<62 hex>.png` under one folder: the name is the sha256 of the bytes,
 * so equal pictures are kept once and any number of processes may write at the same time.
 */
export class BlobStore {
  readonly dir: string;
  /** What this process has put there. */
  readonly #known = new Set<string>();

  constructor(dir: string) {
    this.dir = resolve(dir);
  }

  path(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new DartError(`'${sha256}' is not a sha256`, { where: this.dir });
    return join(this.dir, sha256.slice(0, 2), `${sha256.slice(2)}.png`);
  }

  has(sha256: string): boolean {
    return this.#known.has(sha256) || statSync(this.path(sha256), { throwIfNoEntry: false }) !== undefined;
  }

  /**
   * Keeps the picture and hands back its sha256. Doing it again changes nothing.
   * @throws DartError: a full disk, a read-only folder. Nothing half-written stays.
   */
  async put(png: Uint8Array): Promise<string> {
    const sha256 = sha256Of(png);
    if (this.#known.has(sha256)) return sha256;
    const path = this.path(sha256);
    const temporary = temporaryName(path);
    try {
      const size = await stat(path).then((found) => found.size, ifMissing);
      if (size !== png.length) {
        await makeFolder(dirname(path));
        await writeFile(temporary, png);
        await rename(temporary, path);
      }
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw fileError(error, 'write a screenshot', this.dir);
    }
    this.#known.add(sha256);
    return sha256;
  }

  /** As `put`, and back only when it is on the disk. */
  putSync(png: Uint8Array): string {
    const sha256 = sha256Of(png);
    if (this.#known.has(sha256)) return sha256;
    const path = this.path(sha256);
    this.#writeSync(path, png);
    this.#known.add(sha256);
    return sha256;
  }

  /** @throws DartError for a blob that is missing or damaged. */
  async read(sha256: string): Promise<Uint8Array> {
    const path = this.path(sha256);
    try {
      return verified(await readFile(path), sha256, path);
    } catch (error) {
      throw missing(error, path);
    }
  }

  readSync(sha256: string): Uint8Array {
    const path = this.path(sha256);
    try {
      return verified(readFileSync(path), sha256, path);
    } catch (error) {
      throw missing(error, path);
    }
  }

  #writeSync(path: string, png: Uint8Array): void {
    const temporary = temporaryName(path);
    try {
      // The size tells a file that a power cut left empty from a whole one.
      if (statSync(path, { throwIfNoEntry: false })?.size === png.length) return;
      makeFolderSync(dirname(path));
      writeFileSync(temporary, png);
      renameSync(temporary, path);
    } catch (error) {
      try {
        unlinkSync(temporary);
      } catch {
        // It was never made.
      }
      throw fileError(error, 'write a screenshot', this.dir);
    }
  }
}

function ifMissing(error: unknown): number {
  if (codeOf(error) === 'ENOENT') return -1;
  throw error;
}

function verified(bytes: Uint8Array, sha256: string, path: string): Uint8Array {
  if (sha256Of(bytes) === sha256) return bytes;
  throw new DartError('the screenshot is damaged: its bytes do not have the sha256 of its name', { where: path });
}

function missing(error: unknown, path: string): unknown {
  if (codeOf(error) !== 'ENOENT') return fileError(error, 'read', path);
  return new DartError('no such screenshot', { where: path, hint: 'the --blobs folder that the rollouts wrote to' });
}
