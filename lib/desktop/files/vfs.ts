/** A file or a folder of the desktop's own file system. */
interface Entry {
  /** Absent for a folder. */
  data?: string | Uint8Array;
  mode: number;
}

export const HOME = '/home/user';
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Absolute path without `.`, `..`, `~` and doubled slashes. */
export function resolvePath(path: string, from = HOME): string {
  const start = path.startsWith('~') ? HOME + path.slice(1) : path;
  const full = start.startsWith('/') ? start : `${from}/${start}`;
  const parts: string[] = [];
  for (const part of full.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Folder of an absolute path; `/` is its own. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

/** Last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Ending of a file name with its dot, in lower case; empty when there is none. */
export function extensionOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot).toLowerCase() : '';
}

/** The desktop's file system: a map from absolute path to content. Nothing here touches the host. */
export class Vfs {
  private readonly entries: Map<string, Entry>;

  constructor(from?: Vfs) {
    this.entries = from ? new Map(from.entries) : new Map([['/', { mode: 0o755 }]]);
  }

  exists(path: string): boolean {
    return this.entries.has(path);
  }

  isFolder(path: string): boolean {
    const entry = this.entries.get(path);
    return entry !== undefined && entry.data === undefined;
  }

  isFile(path: string): boolean {
    return this.entries.get(path)?.data !== undefined;
  }

  /** Content as text; null when there is no such file. The same string object as long as the file is the same. */
  readText(path: string): string | null {
    const data = this.entries.get(path)?.data;
    if (data === undefined) return null;
    return typeof data === 'string' ? data : decoder.decode(data);
  }

  /** Content as bytes (a copy); null when there is no such file. */
  readBytes(path: string): Uint8Array | null {
    const data = this.entries.get(path)?.data;
    if (data === undefined) return null;
    return typeof data === 'string' ? encoder.encode(data) : data.slice();
  }

  /** Writes a file whole and makes the folders above it. False when a folder is there, or a file is in the way above it. */
  write(path: string, data: string | Uint8Array): boolean {
    if (this.isFolder(path) || !this.makeFolder(parentOf(path))) return false;
    const stored = typeof data === 'string' ? data : data.slice();
    this.entries.set(path, { data: stored, mode: this.entries.get(path)?.mode ?? 0o644 });
    return true;
  }

  /** Makes a folder and those above it. False when a file is in the way. */
  makeFolder(path: string): boolean {
    const entry = this.entries.get(path);
    if (entry) return entry.data === undefined;
    if (!this.makeFolder(parentOf(path))) return false;
    this.entries.set(path, { mode: 0o755 });
    return true;
  }

  /** Removes a file, or a folder with all in it. */
  remove(path: string): boolean {
    if (path === '/' || !this.entries.delete(path)) return false;
    for (const below of this.below(path)) this.entries.delete(below);
    return true;
  }

  /** Copies a file or folder; false when the source is missing or the target lies inside it. */
  copy(from: string, to: string): boolean {
    const entry = this.entries.get(from);
    if (!entry || from === to || to.startsWith(`${from}/`)) return false;
    if (!this.makeFolder(parentOf(to))) return false;
    if (this.exists(to) && this.isFolder(to) !== (entry.data === undefined)) return false;
    const below = this.below(from);
    this.entries.set(to, { ...entry });
    for (const path of below) this.entries.set(to + path.slice(from.length), { ...this.entries.get(path)! });
    return true;
  }

  move(from: string, to: string): boolean {
    return this.copy(from, to) && this.remove(from);
  }

  /** Names in a folder, sorted by code point. */
  list(folder: string): string[] {
    const prefix = folder === '/' ? '/' : `${folder}/`;
    const names: string[] = [];
    for (const path of this.entries.keys()) {
      if (path.startsWith(prefix) && path.length > prefix.length && path.indexOf('/', prefix.length) < 0) {
        names.push(path.slice(prefix.length));
      }
    }
    return names.sort();
  }

  /** Every path below a folder. */
  below(folder: string): string[] {
    const prefix = folder === '/' ? '/' : `${folder}/`;
    return [...this.entries.keys()].filter((path) => path.startsWith(prefix) && path !== '/');
  }

  mode(path: string): number | null {
    return this.entries.get(path)?.mode ?? null;
  }

  setMode(path: string, mode: number): boolean {
    const entry = this.entries.get(path);
    if (!entry) return false;
    this.entries.set(path, { ...entry, mode });
    return true;
  }

  size(path: string): number {
    const data = this.entries.get(path)?.data;
    return data === undefined ? 0 : typeof data === 'string' ? encoder.encode(data).length : data.length;
  }
}
