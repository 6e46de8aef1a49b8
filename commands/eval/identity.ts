import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isServerKind, parseServerSpec } from '../../lib/policy/openai/server_spec.ts';
import { splitPolicySpec } from '../../lib/policy/spec.ts';
import { fileError } from '../../lib/stream/errno.ts';
import type { Task } from '../../lib/stream/records.ts';
import { sha256Of } from '../../lib/stream/sha256.ts';

/**
 * What tells one policy from another, also where both have one name and version: the bytes of a policy that is a file,
 * address and model of one that is asked over HTTP, else the specification itself.
 * @throws DartError where the file cannot be read.
 */
export async function policyIdentity(spec: string): Promise<string> {
  const { kind, rest } = splitPolicySpec(spec);
  if (isServerKind(kind)) {
    const { urls, model } = parseServerSpec(spec);
    return [kind, [...urls].sort().join(','), `model ${model ?? 'of the server'}`].join(' ');
  }
  if (kind !== 'onnx' && kind !== 'replay') return spec;
  return `${kind} sha256 ${await hashOfPolicy(rest)}`;
}

/** Of a published folder the policy and the version that it announces, which holds the weights' own hash. */
async function hashOfPolicy(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return sha256Of(await bytesOf(path));
  const latest = await readFile(join(path, 'latest.json')).catch(() => Buffer.alloc(0));
  return sha256Of(Buffer.concat([await bytesOf(join(path, 'policy.onnx')), latest]));
}

/** sha256 of what a task is, whatever the order of its keys. */
export function taskIdentity(task: Task): string {
  return sha256Of(JSON.stringify(task, (_key, value: unknown) => (isObject(value) ? sorted(value) : value)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function bytesOf(path: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => {
    throw fileError(error, 'read', path);
  });
}
