import type { Stats } from 'node:fs';
import { opendir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { codeOf, fileError } from '../../stream/errno.ts';

/** A file that is larger is no screenshot and no list of messages. */
const MAX_BYTES = 256 * 1024 * 1024;

/** A path of the command line: where it is, and how it was given, for messages. */
export interface GivenPath {
  path: string;
  given: string;
}

/** Bytes of a file, or why there are none. */
export type FoundFile = { bytes: Buffer; path: string } | { refused: string };

/**
 * What an import may read: one folder. Names that lead out of it (`..`, an absolute path, a symbolic link) are refused,
 * whatever a record says.
 */
export class ImportFolder {
  /** The folder itself, links followed. */
  readonly root: string;

  /** How the folder was given. */
  readonly #shown: string;

  private constructor(root: string, shown: string) {
    this.root = root;
    this.#shown = shown;
  }

  /** The folder that is given, or the one that the given file lies in. */
  static async of({ path, given }: GivenPath): Promise<{ folder: ImportFolder; isFile: boolean; path: string }> {
    try {
      const real = await realpath(path);
      const isFile = !(await stat(real)).isDirectory();
      const folder = isFile ? new ImportFolder(dirname(real), dirname(given)) : new ImportFolder(real, given);
      return { folder, isFile, path: real };
    } catch (error) {
      throw fileError(error, 'read', given);
    }
  }

  /** A file by its name as a record in `from` gives it. Never throws for what the name or the file is. */
  async read(from: string, name: string): Promise<FoundFile> {
    if (isAbsolute(name) || name.includes('\0')) return { refused: 'its path is not inside the folder' };
    const path = join(from, name);
    if (!this.#holds(path)) return { refused: 'its path is not inside the folder' };
    try {
      const real = await realpath(path);
      if (!this.#holds(real)) return { refused: 'it is a link out of the folder' };
      const refused = unreadable(await stat(real));
      return refused === null ? { bytes: await readFile(real), path } : { refused };
    } catch (error) {
      return { refused: codeOf(error) === 'ENOENT' ? 'there is no such file' : `it cannot be read (${codeOf(error)})` };
    }
  }

  /** True where there is such a folder inside. */
  async hasFolder(path: string): Promise<boolean> {
    try {
      return this.#holds(await realpath(path)) && (await stat(path)).isDirectory();
    } catch {
      return false;
    }
  }

  /** The path as people know it: from where the folder was given. */
  name(path: string): string {
    return join(this.#shown, relative(this.root, path));
  }

  #holds(path: string): boolean {
    return path === this.root || path.startsWith(this.root.endsWith(sep) ? this.root : this.root + sep);
  }
}

function unreadable(info: Stats): string | null {
  if (!info.isFile()) return 'it is not a file';
  return info.size > MAX_BYTES ? 'it is larger than 256 MiB' : null;
}

/** One folder's own entries, by name. */
export interface FolderEntries {
  path: string;
  files: string[];
  folders: string[];
}

/**
 * Each folder below `path` and that itself, in the order of names, so that two runs meet them alike. Links are not
 * followed, so nothing comes twice. Holds the names of one folder at a time on each level.
 */
export async function* walkFolders(folder: ImportFolder, path: string): AsyncGenerator<FolderEntries, void, void> {
  const entries = await entriesOf(folder, path);
  yield entries;
  for (const name of entries.folders) yield* walkFolders(folder, join(path, name));
}

/** Names in byte order. */
export async function entriesOf(folder: ImportFolder, path: string): Promise<FolderEntries> {
  const files: string[] = [];
  const folders: string[] = [];
  try {
    for await (const entry of await opendir(path)) {
      if (entry.isDirectory()) folders.push(entry.name);
      else if (entry.isFile()) files.push(entry.name);
    }
  } catch (error) {
    throw fileError(error, 'read the folder', folder.name(path));
  }
  return { path, files: files.sort(), folders: folders.sort() };
}
