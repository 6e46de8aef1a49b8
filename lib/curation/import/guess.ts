import { basename, join } from 'node:path';
import { conversationBeside } from './dart.ts';
import { isMessages } from './dart_messages.ts';
import { type GivenPath, ImportFolder, walkFolders } from './folder.ts';

export type Form = 'dart' | 'osworld' | 'jsonl';

/** Files that are looked at in a folder before giving up: a hint is not worth reading all of a disk. */
const MAX_FILES = 2000;

/**
 * Of which other form the files are, as options and paths to type (`--from osworld`); null where nothing is recognised,
 * or the files are of the form that was said. For messages only.
 */
export async function otherForm(source: GivenPath, said: Form): Promise<string | null> {
  const { folder, isFile, path } = await ImportFolder.of(source);
  if (isFile) {
    const form = await formOf(folder, path);
    return form === null || form === said ? null : `--from ${form}`;
  }
  let other: string | null = null;
  let looked = 0;
  for await (const entries of walkFolders(folder, path)) {
    for (const name of entries.files) {
      looked += 1;
      const file = join(entries.path, name);
      const form = await formOf(folder, file);
      if (form === said && said !== 'jsonl') return null;
      if (form !== null) other ??= form === 'jsonl' ? `--from jsonl ${folder.name(file)}` : `--from ${form}`;
    }
    if (looked > MAX_FILES) break;
  }
  if (other !== null || said === 'dart') return other;
  return (await conversationBeside(source)) === null ? null : '--from dart';
}

async function formOf(folder: ImportFolder, path: string): Promise<Form | null> {
  const name = basename(path);
  if (name === 'traj.jsonl') return 'osworld';
  if (/\.(?:ndjson|jsonl)$/.test(name)) return 'jsonl';
  if (!name.endsWith('.json')) return null;
  const found = await folder.read(folder.root, path.slice(folder.root.length + 1));
  if ('refused' in found) return null;
  try {
    return isMessages(JSON.parse(found.bytes.toString('utf8').replace(/^\uFEFF/, ''))) ? 'dart' : null;
  } catch {
    return null;
  }
}
