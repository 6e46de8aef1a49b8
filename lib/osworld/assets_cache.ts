import { readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DartError } from '../errors.ts';
import { fileError } from '../stream/errno.ts';
import { makeFolder, writeWhole } from '../stream/files.ts';
import { sha256Of } from '../stream/sha256.ts';
import { type DownloadOptions, download, hashOfFile } from './assets_download.ts';

/** A file of the cache. */
export interface Asset {
  url: string;
  /** Bytes. */
  size: number;
  sha256: string;
  path: string;
}

export interface AssetCacheOptions {
  /** Take what is there and ask nobody. */
  offline?: boolean;
  /** Stands in for https://huggingface.co, where the files of OSWorld are: `https://hf-mirror.com`. */
  mirror?: string;
  /** How downloads are done. */
  download?: Omit<DownloadOptions, 'signal' | 'onBytes'>;
}

export interface FetchOptions extends Pick<DownloadOptions, 'signal' | 'onBytes'> {
  /** What the bytes must have. */
  sha256?: string;
  /** Take it anew, whatever is there; what is there stays until the new bytes have come and are as they should be. */
  anew?: boolean;
}

const HUGGING_FACE = 'https://huggingface.co/';

/**
 * Files that tasks download, kept by URL: `<2 hex>/<62 hex of sha256(URL)>/content`, and `about.json` with URL, size and
 * sha256, which is written last: without it nothing is there. It is apart from all results, so that rollouts of one
 * task cannot disturb each other, and any number of processes may use one folder.
 */
export class AssetCache {
  readonly dir: string;
  readonly #options: AssetCacheOptions;
  /** Downloads under way in this process. */
  readonly #underWay = new Map<string, Promise<Asset>>();

  constructor(dir: string, options: AssetCacheOptions = {}) {
    this.dir = resolve(dir);
    this.#options = options;
  }

  /** The folder of one URL. */
  folder(url: string): string {
    const key = sha256Of(url);
    return join(this.dir, key.slice(0, 2), key.slice(2));
  }

  /** What is there of a URL, or null; its bytes are not looked at. */
  async find(url: string): Promise<Asset | null> {
    const folder = this.folder(url);
    const about = await readFile(join(folder, 'about.json'), 'utf8').then(parseAbout, () => null);
    const path = join(folder, 'content');
    const size = await stat(path).then(
      (found) => found.size,
      () => -1,
    );
    return about && about.size === size ? { url, ...about, path } : null;
  }

  /**
   * The bytes of a URL, from the folder or else from its server.
   * @throws DartError that names the URL where they cannot be had, or do not have the sha256 that was noted with them.
   */
  async read(url: string, options: FetchOptions = {}): Promise<Uint8Array> {
    const asset = await this.fetch(url, options);
    const bytes = await readFile(asset.path).catch((error: unknown) => {
      throw fileError(error, 'read', asset.path);
    });
    const found = sha256Of(bytes);
    if (found !== asset.sha256) throw mismatch(asset, found);
    return bytes;
  }

  /** That a file still has the sha256 that was noted when it came. @throws DartError where it has not. */
  async verify(asset: Asset): Promise<void> {
    const found = await hashOfFile(asset.path);
    if (found !== asset.sha256) throw mismatch(asset, found);
  }

  /**
   * Sees to it that a URL is in the folder. A download that was broken off is gone on from.
   * @throws DartError that names the URL.
   */
  async fetch(url: string, options: FetchOptions = {}): Promise<Asset> {
    const there = options.anew ? null : await this.find(url);
    if (there) {
      if (options.sha256 !== undefined && options.sha256 !== there.sha256) throw otherThan(there, options.sha256);
      return there;
    }
    if (this.#options.offline) {
      throw new DartError('the asset is not in the cache, and nothing is to be downloaded', {
        where: url,
        hint: 'dart-eval fetch-assets --from DIR, or without --offline',
      });
    }
    const running = this.#underWay.get(url);
    if (running) return running;
    const fetching = this.#download(url, options).finally(() => this.#underWay.delete(url));
    this.#underWay.set(url, fetching);
    return fetching;
  }

  async #download(url: string, { sha256, anew: _, ...options }: FetchOptions): Promise<Asset> {
    const folder = this.folder(url);
    await makeFolder(folder);
    const part = await download(this.#addressOf(url), join(folder, 'content'), {
      ...this.#options.download,
      ...options,
    });
    const expected = sha256 ?? part.promised;
    if (expected !== null && expected !== part.sha256) {
      await unlink(part.path).catch(() => {});
      throw otherThan({ url, sha256: part.sha256 }, expected);
    }
    return this.#keep(url, folder, part);
  }

  async #keep(url: string, folder: string, part: { path: string; size: number; sha256: string }): Promise<Asset> {
    const path = join(folder, 'content');
    try {
      await rename(part.path, path);
    } catch (error) {
      // Another process was first with the same bytes.
      const other = await this.find(url);
      if (other?.sha256 === part.sha256) return other;
      throw fileError(error, 'keep an asset', path);
    }
    const about = { url, size: part.size, sha256: part.sha256 };
    await writeWhole(join(folder, 'about.json'), `${JSON.stringify(about)}\n`);
    for (const name of await readdir(folder))
      if (name.endsWith('.part')) await unlink(join(folder, name)).catch(() => {});
    return { ...about, path };
  }

  #addressOf(url: string): string {
    const { mirror } = this.#options;
    if (mirror === undefined || !url.startsWith(HUGGING_FACE)) return url;
    return `${mirror.replace(/\/+$/, '')}/${url.slice(HUGGING_FACE.length)}`;
  }
}

function parseAbout(text: string): { size: number; sha256: string } | null {
  try {
    const { size, sha256 } = JSON.parse(text) as Record<string, unknown>;
    return typeof size === 'number' && typeof sha256 === 'string' ? { size, sha256 } : null;
  } catch {
    return null;
  }
}

function mismatch({ url, sha256, path }: Asset, found: string): DartError {
  return new DartError(`hash mismatch: ${path} has sha256 ${found}, and had ${sha256} when it came`, {
    where: url,
    hint: 'dart-eval fetch-assets, which takes it anew',
  });
}

function otherThan({ url, sha256 }: { url: string; sha256: string }, expected: string): DartError {
  return new DartError(`hash mismatch: it has sha256 ${sha256}, and should have ${expected}`, {
    where: url,
    hint: 'another --mirror, or checksums of this version of the files',
  });
}
