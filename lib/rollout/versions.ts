import { readdir, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { DartError, messageOf } from '../errors.ts';
import { delay } from '../stream/timer.ts';

export interface AvailableVersion {
  version: number;
  /** Folder of its weights. */
  path: string;
}

/** Where newer versions are announced. */
export interface VersionSource {
  /** Null while nothing is published. */
  latest(): Promise<AvailableVersion | null>;
  /** The newest whole version older than this one, for when that one cannot be loaded. */
  before?(version: number): Promise<AvailableVersion | null>;
}

const manifestSchema = z.looseObject({
  version: z.number(),
  files: z.record(z.string(), z.looseObject({ bytes: z.number() })),
});
const latestSchema = z.looseObject({ version: z.number().int().nonnegative(), path: z.string().min(1) });

/** `DIR/latest.json` of a published directory; its path is taken relative to DIR. It is replaced whole. */
export class PublishedDirectory implements VersionSource {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async latest(): Promise<AvailableVersion | null> {
    const file = join(this.#folder, 'latest.json');
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw new DartError(`cannot read it: ${error.message}`, { where: file, cause: error });
    });
    if (text === null) return null;
    let latest: AvailableVersion;
    try {
      latest = latestSchema.parse(JSON.parse(text));
    } catch (error) {
      throw new DartError('this is no announcement of a version', {
        where: file,
        hint: '{"version":3,"path":"…"}',
        cause: error,
      });
    }
    const { version, path } = latest;
    return { version, path: isAbsolute(path) ? path : join(this.#folder, path) };
  }

  async before(version: number): Promise<AvailableVersion | null> {
    const root = join(this.#folder, 'versions');
    const names = await readdir(root).catch(() => []);
    const older = names.filter((name) => /^\d{6,}$/.test(name) && Number(name) < version);
    for (const name of older.sort((a, b) => Number(b) - Number(a))) {
      const found = { version: Number(name), path: join(root, name) };
      if (await isWhole(found)) return found;
    }
    return null;
  }
}

/** A version whose manifest is there, and whose files are as long as it says. */
async function isWhole({ version, path }: AvailableVersion): Promise<boolean> {
  try {
    const manifest = manifestSchema.parse(JSON.parse(await readFile(join(path, 'manifest.json'), 'utf8')));
    const sizes = Object.entries(manifest.files).map(
      async ([name, { bytes }]) => (await stat(join(path, name))).size === bytes,
    );
    return manifest.version === version && (await Promise.all(sizes)).every(Boolean);
  } catch {
    return false;
  }
}

export interface FollowOptions {
  intervalMs: number;
  /** The version that is served now. */
  current: () => number;
  sync: (version: number, path: string) => Promise<void>;
  /** A source that cannot be read is tried again; each new reason is told once. */
  onError: (message: string) => void;
  signal: AbortSignal;
}

/** Looks every `intervalMs` for a newer version and hands it to `sync`, until the signal aborts. */
export async function followVersions(source: VersionSource, options: FollowOptions): Promise<void> {
  let told = '';
  while (!options.signal.aborted) {
    try {
      const latest = await source.latest();
      if (latest && latest.version > options.current()) await options.sync(latest.version, latest.path);
      told = '';
    } catch (error) {
      const message = messageOf(error);
      if (message !== told) options.onError(message);
      told = message;
    }
    await delay(options.intervalMs, options.signal).catch(() => {});
  }
}
