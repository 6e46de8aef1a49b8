import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DartError } from '../errors.ts';
import { begunWith, checkPolicyOf } from '../policy/network/published.ts';
import { lockFile } from '../store/lock.ts';
import { makeWritableFolderSync, writeWhole } from '../stream/files.ts';
import { sha256Of } from '../stream/sha256.ts';
import { listVersions, POLICY_FILE, TORCH_POLICY_FILE, versionFolder } from './versions.ts';

/**
 * Makes sure that the publish folder has its policy file and hands back what is in it.
 * @param source Bytes of the policy to start from; null goes on with the one that is there.
 * @param strict Refuse a source that is not the one the folder's run began with.
 * @throws DartError where neither is there, where the folder belongs to a run of another policy, and where its policy file
 *   is not as it was written.
 */
export async function preparePolicy(
  dir: string,
  source: Uint8Array | null,
  strict: boolean,
): Promise<{ path: string; sha256: string }> {
  refuseOtherEngine(dir, 'onnx');
  const path = join(dir, POLICY_FILE);
  const found = existsSync(path) ? readFileSync(path) : null;
  const newest = newestVersion(dir);
  if (found === null || (newest === null && source !== null)) {
    if (source === null) throw noPolicy(dir);
    const sha256 = sha256Of(source);
    const begun = newest && begunWith(newest);
    if (begun !== null && begun !== sha256) throw otherPolicy(dir, 'the --policy that the run began with');
    if (found === null || sha256Of(found) !== sha256) await writeWhole(path, source);
    return { path, sha256 };
  }
  if (newest !== null) checkPolicyOf(newest, found, path);
  const sha256 = sha256Of(found);
  if (source === null || sha256Of(source) === sha256 || !strict) return { path, sha256 };
  throw otherPolicy(dir, 'leave --policy out to go on with the one that is there');
}

function otherPolicy(dir: string, orElse: string): DartError {
  const hint = `another --publish folder; or ${orElse}`;
  return new DartError('this folder holds the versions of another policy', { where: dir, hint });
}

/** Folder of the newest whole version. */
function newestVersion(dir: string): string | null {
  const newest = listVersions(dir).at(-1);
  return newest === undefined ? null : versionFolder(dir, newest);
}

/**
 * The policy of a publish folder, which is only looked at.
 * @throws DartError where there is none, or another than the run began with.
 */
export function policyInFolder(dir: string): { bytes: Uint8Array; path: string } {
  refuseOtherEngine(dir, 'onnx');
  const path = join(dir, POLICY_FILE);
  if (!existsSync(path)) throw noPolicy(dir);
  const bytes = readFileSync(path);
  const newest = newestVersion(dir);
  if (newest !== null) checkPolicyOf(newest, bytes, path);
  return { bytes, path };
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
  return `${name}-${sha256Of(dir).slice(0, 8)}`;
}
