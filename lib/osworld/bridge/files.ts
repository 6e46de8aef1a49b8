import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { BridgeFile } from './kinds.ts';

function isFile(value: object): value is BridgeFile {
  return 'bytes' in value && 'name' in value && value.bytes instanceof Uint8Array;
}

/**
 * The value with `{$file: path}` in the places of files, which are written into the folder, each into one of its own.
 * Names keep their last part alone.
 */
export async function writeFiles(value: unknown, folder: string): Promise<unknown> {
  let count = 0;
  const place = async (item: unknown): Promise<unknown> => {
    if (typeof item !== 'object' || item === null) return item;
    if (Array.isArray(item)) return inOrder(item, place);
    if (!isFile(item)) {
      const values = await inOrder(Object.values(item), place);
      return Object.fromEntries(Object.keys(item).map((key, index) => [key, values[index]]));
    }
    count += 1;
    const path = join(folder, String(count), basename(item.name).replaceAll('\0', '') || 'file');
    await mkdir(dirname(path));
    await writeFile(path, item.bytes);
    return { $file: path };
  };
  return place(value);
}

async function inOrder(items: unknown[], map: (item: unknown) => Promise<unknown>): Promise<unknown[]> {
  const made: unknown[] = [];
  for (const item of items) made.push(await map(item));
  return made;
}

/** The value with the files of the folder in the places of `{$file: path}`. */
export async function readFiles(value: unknown, folder: string): Promise<unknown> {
  if (Array.isArray(value)) return inOrder(value, (item) => readFiles(item, folder));
  if (typeof value !== 'object' || value === null || !('$file' in value)) return value;
  const path = String(value.$file);
  if (dirname(path) !== folder) throw new Error(`${path} lies outside the folder that the bridge was given`);
  return { name: basename(path), bytes: new Uint8Array(await readFile(path)) } satisfies BridgeFile;
}
