import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import { readSafetensors } from '../../lib/policy/network/safetensors.ts';
import { checkTrainable } from '../../lib/policy/network/trainable.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { bakeWeights } from '../../lib/training/bake.ts';
import { listVersions, POLICY_FILE, readVersionFile, versionFolder } from '../../lib/training/versions.ts';
import { textOf } from './settings.ts';

/**
 * The policy file that `--policy` and `--init-from` ask for, as bytes; null where neither is given. A published folder
 * stands for its newest version.
 * @throws DartError naming what is missing, or what about the file cannot be trained; nothing has been written by then.
 */
export function startingPolicy({ options, io }: CommandContext): Uint8Array | null {
  const spec = textOf(options, 'policy');
  const weights = textOf(options, 'init-from');
  if (spec === null) {
    if (weights === null) return null;
    throw new DartError('weights need a network to go into', { where: '--init-from', hint: '--policy onnx:FILE' });
  }
  const path = resolvePath(io, onnxPath(spec));
  const bytes = readPolicy(path);
  checkTrainable(bytes, path);
  if (weights === null) return bytes;
  return baked(bytes, path, resolvePath(io, weights));
}

/** The path of `onnx:PATH`; a bare path that is there is taken too. */
function onnxPath(spec: string): string {
  if (spec.startsWith('onnx:') && spec.length > 5) return spec.slice(5);
  if (existsSync(spec)) return spec;
  throw new DartError(`'${spec}' is not a policy that can be trained`, { where: '--policy', hint: 'onnx:FILE' });
}

/** A policy file, or the newest version of a published folder as one. */
export function readPolicy(path: string, version?: number): Uint8Array {
  const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const file = folder ? join(path, POLICY_FILE) : path;
  const bytes = readBytes(file);
  if (!folder) return bytes;
  const chosen = version ?? listVersions(path).at(-1);
  return chosen === undefined ? bytes : baked(bytes, file, versionFolder(path, chosen));
}

/** @param weights A safetensors file, a version's folder, or a published folder. */
function baked(policy: Uint8Array, source: string, weights: string): Uint8Array {
  const { bytes, where } = readWeights(weights);
  const { tensors } = readSafetensors(bytes, where);
  return bakeWeights(policy, tensors, { source, where });
}

function readWeights(path: string): { bytes: Uint8Array; where: string } {
  const name = 'weights.safetensors';
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return { bytes: readBytes(path), where: path };
  const newest = listVersions(path).at(-1);
  const folder = newest === undefined ? path : versionFolder(path, newest);
  return { bytes: readVersionFile(folder, name), where: join(folder, name) };
}

function readBytes(path: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    throw fileError(error, 'read', path);
  }
}
