import { readAsset } from '../assets.ts';
import { type FetchedFile, MissingFile, type TaskContext, taskError } from '../context.ts';
import type { Fields } from '../fields.ts';
import type { Getter } from '../kinds.ts';
import { lastRow } from '../metrics/sheets/last_row.ts';

/** The last part of a guest path or URL. */
function nameOf(path: string): string {
  return path.split('/').pop() || path;
}

/** A file of the guest, null when it is not there. */
export async function guestFile(path: string, { guest }: TaskContext): Promise<FetchedFile | null> {
  const bytes = await guest.readFile(path);
  return bytes === null ? null : { name: nameOf(path), bytes };
}

/**
 * One path, or with `multi` a list of paths of which `gives` (indices, default the first) are handed on: one of them
 * alone, several as a list. The others come along in `beside`, under their names in `dest`.
 */
async function fetchEach(config: Fields, fetch: (path: string) => Promise<FetchedFile | null>): Promise<unknown> {
  if (!config.flag('multi')) return fetch(config.text('path'));
  const paths = config.texts('path');
  const names = config.texts('dest', []);
  const gives = config.list('gives', [0]).map(Number);
  if (gives.some((index) => paths[index] === undefined)) throw config.wrong('gives', 'indices of the paths');
  const fetched = await Promise.all(paths.map(fetch));
  const all = fetched.map((file, index) => file && { ...file, name: names[index] ?? file.name });
  const files = gives.map((index) => {
    const beside = all.filter((other, i): other is FetchedFile => other !== null && i !== index);
    return all[index] ? { ...all[index], beside } : null;
  });
  return files.length === 1 ? files[0] : files;
}

/** `{path}` on the guest. */
const vmFile: Getter = (config, context) => fetchEach(config, (path) => guestFile(path, context));

/** `{path}`: a URL, taken from the assets folder, or a `data:` URL. */
const cloudFile: Getter = (config, context) =>
  fetchEach(config, async (url) => ({ name: nameOf(url), bytes: await readAsset(url, context) }));

/** `{path}`: what a set-up step kept with `stdout`. */
const cacheFile: Getter = async (config, context) => {
  const name = config.text('path');
  const bytes = context.cache.get(name);
  if (bytes === undefined) throw new MissingFile(name);
  return { name, bytes };
};

/** `{content, name?}`: our own getter, an expected file that the task carries inside it. */
const inlineFile: Getter = async (config) => ({
  name: config.text('name', 'expected.txt'),
  bytes: Buffer.from(config.text('content'), 'utf8'),
});

/** `{path, file_type, file_content}`: the last row of a table, its cells as texts. OSWorld's own type is `xlsx`. */
const contentFromFile: Getter = async (config, context) => {
  const type = config.text('file_type');
  const content = config.text('file_content');
  if (!['csv', 'xlsx'].includes(type) || content !== 'last_row') {
    throw taskError(
      context,
      `${config.owner}: ${content} of a ${type} file is not supported`,
      'last_row of xlsx or csv',
    );
  }
  const file = await guestFile(config.text('path'), context);
  if (file === null) return null;
  if (type === 'xlsx') return lastRowOrNull(file);
  const rows = new TextDecoder()
    .decode(file.bytes)
    .split(/\r?\n/)
    .filter((row) => row !== '');
  return rows.at(-1)?.split(',') ?? [];
};

/** What is no table that the agent could have left has no last row. */
function lastRowOrNull({ bytes }: FetchedFile): string[] | null {
  try {
    return lastRow(bytes);
  } catch {
    return null;
  }
}

/** `{path}`: `{type, name, children}` of a folder, as the server's `/list_directory`. */
const listDirectory: Getter = async (config, { guest }) => {
  const path = config.text('path');
  const tree = await guest.listDirectory(path);
  if (tree === null) throw new MissingFile(path);
  return tree;
};

export const fileGetters: Record<string, Getter> = {
  vm_file: vmFile,
  cloud_file: cloudFile,
  cache_file: cacheFile,
  inline_file: inlineFile,
  content_from_vm_file: contentFromFile,
  list_directory: listDirectory,
};
