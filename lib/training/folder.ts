import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DartError } from '../errors.ts';
import { lockFile } from '../store/lock.ts';
import { makeWritableFolderSync, writeWhole } from '../stream/files.ts';
import { listVersions, POLICY_FILE, TORCH_POLICY_FILE } from './versions.ts';

/**
 * Makes sure that the publish folder has its policy file and hands back what is in it.
 * @param source Bytes of the policy to start from; null goes on with the one that is there.
 * @param strict Refuse a source that is not the one the folder's run began with.
 * @throws DartError where neither is there, or where the folder belongs to a run of another policy.
 */
export async function preparePolicy(
  dir: string,
  source: Uint8Array | null,
  strict: boolean,
): Promise<{ path: string; sha256: string }> {
  refuseOtherEngine(dir, 'onnx');
  const path = join(dir, POLICY_FILE);
  const found = existsSync(path) ? readFileSync(path) : null;
  if (found === null) {
    if (source === null) throw noPolicy(dir);
    await writeWhole(path, source);
    return { path, sha256: hashOf(source) };
  }
  if (source === null || hashOf(source) === hashOf(found)) return { path, sha256: hashOf(found) };
  if (listVersions(dir).length === 0) {
    await writeWhole(path, source);
    return { path, sha256: hashOf(source) };
  }
  if (!strict) return { path, sha256: hashOf(found) };
  throw new DartError('this folder holds the versions of another policy', {
    where: dir,
    hint: `another --publish folder; or leave --policy out to go on with the one that is there`,
  });
}

/**
 * The policy of a publish folder, which is only looked at.
 * @throws DartError where there is none.
 */
export function policyInFolder(dir: string): { bytes: Uint8Array; path: string } {
  refuseOtherEngine(dir, 'onnx');
  const path = join(dir, POLICY_FILE);
  if (!existsSync(path)) throw noPolicy(dir);
  return { bytes: readFileSync(path), path };
}

/** @throws DartError where a folder that is published into holds a run of another engine than this one. */
export function refuseOtherEngine(dir: string, engine: 'onnx' | 'torch'): void {
  const [other, file] = engine === 'onnx' ? ['torch', TORCH_POLICY_FILE] : ['onnx', POLICY_FILE];
  if (!existsSync(join(dir, file!))) return;
  throw new DartError(`this folder holds a run of the ${other} engine (${file})`, {
    where: dir,
    hint: `--engine ${other}, or another --publish folder`,
  });
}

function noPolicy(dir: string): DartError {
  return new DartError('there is no policy to start from', { where: dir, hint: '--policy onnx:FILE' });
}

/**
 * Makes the folder and takes its lock, so that no two trainers publish into it.
 * @returns what gives the lock back; the end of the process does so too.
 * @throws DartError with exit code 75 where another trainer has it, 2 where the folder cannot be written.
 */
export function lockFolder(dir: string): () => void {
  makeWritableFolderSync(dir, 'publish');
  const { release } = lockFile(join(dir, '.lock'), 'dart-train', {
    message: 'another dart-train publishes into this folder',
    where: dir,
    hint: 'wait for it, or another --publish folder',
  });
  return release;
}

/** Name of a run that nobody named: the folder's, with a mark that tells folders of one name apart. */
export function runIdOf(dir: string): string {
  const name = dir.split('/').filter(Boolean).at(-1) ?? 'policy';
  return `${name}-${hashOf(Buffer.from(dir)).slice(0, 8)}`;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
