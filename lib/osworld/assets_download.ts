import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DartError, messageOf } from '../errors.ts';
import { fileError } from '../stream/errno.ts';
import { type Answer, askFor, tellOfStatus } from './assets_request.ts';

export interface DownloadOptions {
  signal?: AbortSignal;
  /** Told of the bytes that are there and, where the server says it, of how many there will be. */
  onBytes?: (received: number, total: number | null) => void;
  /** How often to begin or go on, where the connection breaks. */
  tries?: number;
  /** How long the server may send nothing, in ms. */
  idleMs?: number;
  /** Between two tries, in ms; doubled each time. */
  pauseMs?: number;
}

export interface Downloaded {
  /** The whole file, still under its name as a part. */
  path: string;
  size: number;
  sha256: string;
  /** What the server says that the bytes must have, where it does (Hugging Face). */
  promised: string | null;
}

/** What another try may mend. */
class Broken extends Error {}

/**
 * Downloads `url` into the file `${base}.<version>.part`, where `version` comes from the server's ETag. What an earlier try,
 * or a process that was killed, left of the same version is gone on from (HTTP Range); a part of another version is not
 * touched with a byte. Two processes may do it at once: they write the same bytes to the same places.
 * @throws DartError that names the URL: the server's answer, a download that stays incomplete, a full disk.
 */
export async function download(url: string, base: string, options: DownloadOptions = {}): Promise<Downloaded> {
  const { tries = 4, pauseMs = 500, signal } = options;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await downloadOnce(url, base, options);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Broken)) throw error;
      if (attempt < tries) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs * 2 ** (attempt - 1)));
        continue;
      }
      throw new DartError(`the download did not come to its end: ${error.message}`, {
        where: url,
        hint: (await partOf(base)) ? 'again: what has come is kept, and gone on from' : 'again, or --mirror URL',
        cause: error,
      });
    }
  }
}

async function downloadOnce(url: string, base: string, options: DownloadOptions): Promise<Downloaded> {
  const part = await partOf(base);
  const answer = await askFor(url, part?.size ?? 0, options).catch((error: unknown) => {
    if (error instanceof DartError) throw error;
    throw new Broken(messageOf(error));
  });
  try {
    if (answer.status === 416 && part) {
      await unlink(part.path).catch(() => {});
      throw new Broken('the server has less than what was there; from the beginning');
    }
    if (answer.status !== 200 && answer.status !== 206) {
      const problem = tellOfStatus(answer.status, url);
      throw answer.status >= 500 || answer.status === 429 ? new Broken(problem.message) : problem;
    }
    const goesOn = answer.status === 206;
    const path = `${base}.${versionOf(answer)}.part`;
    if (goesOn && (!part || path !== part.path || answer.from !== part.size)) {
      if (part) await unlink(part.path).catch(() => {});
      throw new Broken('the file has changed on the server; from the beginning');
    }
    return await take(answer, path, goesOn ? part!.size : 0, options);
  } finally {
    answer.close();
  }
}

/** A version of the file: parts of different ones must never meet. Without an ETag each try is one of its own. */
function versionOf({ etag }: Answer): string {
  const text = etag ?? `once:${process.pid}:${process.hrtime.bigint()}`;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return etag === null ? `once-${hash}` : hash;
}

/** The longest part that can be gone on from; what cannot be is removed by the one who keeps it. */
async function partOf(base: string): Promise<{ path: string; size: number } | null> {
  const names = await readdir(dirname(base)).catch(() => []);
  const parts = names.filter((name) => name.startsWith(`${basename(base)}.`) && /\.[0-9a-f]{16}\.part$/.test(name));
  const found = await Promise.all(
    parts.map(async (name) => ({
      path: join(dirname(base), name),
      size: (await stat(join(dirname(base), name))).size,
    })),
  );
  return found.filter(({ size }) => size > 0).sort((a, b) => b.size - a.size)[0] ?? null;
}

async function take(answer: Answer, path: string, offset: number, options: DownloadOptions): Promise<Downloaded> {
  const file = await openPart(path);
  try {
    const size = await takeBody(answer, file, offset, options);
    if (answer.total !== null && size < answer.total)
      throw new Broken(`${size} of ${answer.total} bytes came, then the connection ended`);
    await file.truncate(size);
    await file.sync();
    return { path, size, sha256: await hashOfFile(path), promised: answer.promised };
  } catch (error) {
    // Nobody can go on from a part whose version the server does not tell.
    if (answer.etag === null) await unlink(path).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
}

async function openPart(path: string): Promise<FileHandle> {
  try {
    // Neither truncated nor refused where it is there: another process may be writing the same bytes.
    return await open(path, 'r+').catch(() => open(path, 'w+'));
  } catch (error) {
    throw fileError(error, 'write', path);
  }
}

/** @returns the size of the file when the body is over. */
async function takeBody(answer: Answer, file: FileHandle, offset: number, options: DownloadOptions): Promise<number> {
  let size = offset;
  try {
    for await (const chunk of answer.body) {
      await write(file, chunk, size);
      size += chunk.length;
      options.onBytes?.(size, answer.total);
    }
  } catch (error) {
    if (error instanceof DartError) throw error;
    throw new Broken(messageOf(error));
  }
  return size;
}

async function write(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  try {
    await file.write(chunk, 0, chunk.length, position);
  } catch (error) {
    throw fileError(error, 'write an asset', 'the asset cache');
  }
}

/** sha256 of a file, in hexadecimal digits, without holding it in memory. */
export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
