import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DartError } from '../../errors.ts';
import { fileError } from '../../stream/errno.ts';

const SINGLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

/** A checkpoint on disk that training can begin with. */
export interface BaseCheckpoint {
  /** Absolute. */
  path: string;
  /** Of its configuration, and of names and sizes of its weights: reading 15 GB only to know them again would take long. */
  sha256: string;
}

/**
 * Looks whether a folder is a Hugging Face checkpoint of a model that sees: configuration, weights as safetensors, image
 * processor, tokenizer. No weight is read.
 * @throws DartError naming the file that is missing.
 */
export function checkBase(path: string): BaseCheckpoint {
  if (!isFolder(path)) {
    throw new DartError('there is no such folder', {
      where: path,
      hint: 'a checkpoint on disk: `hf download NAME --local-dir DIR`, then --policy hf:DIR',
    });
  }
  const has = (name: string) => existsSync(join(path, name));
  if (!has('config.json') && has('adapter_config.json')) {
    throw new DartError('these are LoRA adapters, not a checkpoint', {
      where: path,
      hint: 'the checkpoint that they belong to; or merge them first (merge_and_unload of PEFT)',
    });
  }
  const config = readJson(join(path, 'config.json'));
  const weights = weightFiles(path);
  const lacks = (what: string, ...names: string[]) => {
    if (names.some(has)) return;
    throw new DartError(`the checkpoint has no ${what}`, { where: path, hint: `a folder that has ${names[0]}` });
  };
  lacks('tokenizer', 'tokenizer.json', 'tokenizer_config.json', 'vocab.json');
  lacks('image processor', 'preprocessor_config.json', 'processor_config.json');
  const hash = createHash('sha256').update(config);
  for (const { name, bytes } of weights) hash.update(`${name} ${bytes}\n`);
  return { path: realpathSync(path), sha256: hash.digest('hex') };
}

function weightFiles(path: string): { name: string; bytes: number }[] {
  const names = existsSync(join(path, INDEX)) ? filesOfIndex(join(path, INDEX)) : [SINGLE];
  return names.map((name) => {
    const found = statSync(join(path, name), { throwIfNoEntry: false });
    if (found?.isFile()) return { name, bytes: found.size };
    const hint =
      name === SINGLE ? `weights as ${SINGLE}, or with ${INDEX}` : 'downloading it again: the index names this file';
    throw new DartError(`the checkpoint has no ${name}`, { where: path, hint });
  });
}

function filesOfIndex(path: string): string[] {
  const { weight_map: map } = JSON.parse(readJson(path).toString()) as { weight_map?: Record<string, string> };
  if (map && Object.keys(map).length > 0) return [...new Set(Object.values(map))].sort();
  throw new DartError('it names no weights (weight_map)', { where: path, hint: 'downloading the checkpoint again' });
}

/** A JSON file's bytes, which can be read as JSON. */
function readJson(path: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw fileError(error, 'read', path);
  }
  try {
    JSON.parse(bytes.toString());
    return bytes;
  } catch (cause) {
    throw new DartError('it is not JSON', { where: path, hint: 'downloading the checkpoint again', cause });
  }
}

/** Files of a published version that are not its model. */
const NOT_MODEL = new Set(['manifest.json', 'state.json', 'trainer_state.json']);

/** The files of a checkpoint or of a version that make the model, by name; not what a run goes on from. */
export function modelFiles(path: string): string[] {
  return readdirSync(path)
    .filter((name) => !name.startsWith('.') && !NOT_MODEL.has(name))
    .filter((name) => statSync(join(path, name), { throwIfNoEntry: false })?.isFile())
    .sort();
}

/** Puts links to the model's files into an empty folder, which is then the same checkpoint without its 15 GB. */
export async function linkModel(base: string, folder: string): Promise<void> {
  for (const name of modelFiles(base)) await symlink(realpathSync(join(base, name)), join(folder, name));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
