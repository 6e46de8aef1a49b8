import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { DartError } from '../../lib/errors.ts';
import { readOnnx } from '../../lib/graph/read.ts';
import { checkPolicyOf } from '../../lib/policy/network/published.ts';
import { readSafetensors } from '../../lib/policy/network/safetensors.ts';
import { checkTrainable } from '../../lib/policy/network/trainable.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { bakeWeights } from '../../lib/training/bake.ts';
import {
  damageWarnings,
  listVersions,
  POLICY_FILE,
  readVersionFile,
  versionFolder,
} from '../../lib/training/versions.ts';
import { textOf } from './settings.ts';

/**
 * The policy file that `--policy` and `--init-from` ask for, as bytes; null where neither is given. A published folder
 * stands for its newest version; a damaged one that is newer is warned of. Null also for the folder that is published
 * into: its run goes on.
 * @param publish The folder that is published into.
 * @throws DartError naming what is missing, or what about the file cannot be trained; nothing has been written by then.
 */
export function startingPolicy(context: CommandContext, publish: string): Uint8Array | null {
  const { options, io } = context;
  const spec = textOf(options, 'policy');
  const weights = textOf(options, 'init-from');
  if (spec === null) {
    if (weights === null) return null;
    throw new DartError('weights need a network to go into', { where: '--init-from', hint: '--policy onnx:FILE' });
  }
  const path = resolvePath(io, onnxPath(spec, io));
  if (weights === null && isSame(path, publish)) return null;
  const warn = (line: string) => logOf(context).warn(line);
  const bytes = readPolicy(path, newestOf(path, warn));
  checkTrainable(bytes, path);
  if (weights === null) return bytes;
  const from = resolvePath(io, weights);
  return baked(bytes, path, from, newestOf(from, warn));
}

/** The path of `onnx:PATH`. */
function onnxPath(spec: string, io: CommandContext['io']): string {
  if (spec.startsWith('hf:')) {
    const hint = '--engine torch, or leave --engine out';
    throw new DartError('a Hugging Face checkpoint is not for the onnx engine', { where: '--policy', hint });
  }
  if (spec.startsWith('onnx:') && spec.length > 5) return spec.slice(5);
  throw noPolicySpec(spec, io);
}

/** A policy that does not say of which kind it is, with what it probably is; no command guesses. */
export function noPolicySpec(spec: string, io: CommandContext['io']): DartError {
  const path = resolvePath(io, spec);
  const kind = existsSync(join(path, 'config.json')) ? 'hf' : 'onnx';
  const hint = existsSync(path) ? `--policy ${kind}:${spec}` : 'onnx:FILE, or hf:DIR';
  return new UsageError(`'${spec}' does not say which kind of policy it is`, { where: '--policy', hint });
}

/** The newest whole version of a published folder, null where there is none; tells of newer ones that are damaged. */
export function newestOf(path: string, warn: (line: string) => void): number | null {
  if (!isFolder(path)) return null;
  const newest = listVersions(path).at(-1) ?? null;
  for (const line of damageWarnings(path, newest)) warn(line);
  return newest;
}

/** A policy file, or a version of a published folder as one; null stands for the weights that the file has. */
export function readPolicy(path: string, version: number | null): Uint8Array {
  const file = isFolder(path) ? join(path, POLICY_FILE) : path;
  const bytes = readBytes(file);
  if (version === null) return bytes;
  checkPolicyOf(versionFolder(path, version), bytes, file);
  return baked(bytes, file, path, version);
}

/** @param weights A safetensors file, a version's folder, or a published folder (of which the version is taken). */
function baked(policy: Uint8Array, source: string, weights: string, version: number | null): Uint8Array {
  const { bytes, where } = readWeights(weights, version);
  const { tensors } = isFolder(weights) ? readSafetensors(bytes, where) : readWeightsFile(bytes, where);
  return bakeWeights(policy, tensors, { source, where });
}

/** Of a file that a person names, and that nobody published. */
function readWeightsFile(bytes: Uint8Array, where: string) {
  try {
    return readSafetensors(bytes, where);
  } catch (error) {
    if (!(error instanceof DartError)) throw error;
    if (isOnnx(bytes)) {
      const hint = `--policy onnx:${where} without --init-from: the file has its weights in it`;
      throw new DartError('this is an ONNX file, not weights in safetensors', { where, hint, cause: error });
    }
    const hint = 'a .safetensors file, or a folder that dart-train published into';
    throw new DartError(error.message, { where, hint, cause: error });
  }
}

function isOnnx(bytes: Uint8Array): boolean {
  try {
    return readOnnx(bytes, '').nodes.length > 0;
  } catch {
    return false;
  }
}

function readWeights(path: string, version: number | null): { bytes: Uint8Array; where: string } {
  const name = 'weights.safetensors';
  if (!isFolder(path)) return { bytes: readBytes(path), where: path };
  const folder = version === null ? path : versionFolder(path, version);
  return { bytes: readVersionFile(folder, name), where: join(folder, name) };
}

/** Two names of one folder that is there. */
export function isSame(one: string, other: string): boolean {
  return isFolder(one) && isFolder(other) && realpathSync(one) === realpathSync(other);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function readBytes(path: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    throw fileError(error, 'read', path);
  }
}
