import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { DartError } from '../../errors.ts';
import { fileError } from '../../stream/errno.ts';
import { sha256Of } from '../../stream/sha256.ts';

/** A file of a published folder whose bytes are not those that were written. */
export class DamagedFile extends DartError {}

const manifestSchema = z.looseObject({
  files: z.record(z.string(), z.looseObject({ bytes: z.number(), sha256: z.string().optional() })),
});
const latestSchema = z.looseObject({ path: z.string() });
const stateSchema = z.looseObject({ base_sha256: z.string() });

/** @throws DamagedFile where the digest of a version's file is not the one that its manifest names. */
export function checkDigest(digest: string, wanted: string | undefined, path: string): void {
  if (wanted === digest) return;
  throw new DamagedFile('the file is not as it was written: its sha256 differs from the manifest', {
    where: path,
    hint: 'remove this version folder; the one before it is used then',
  });
}

/**
 * The weights of a version, as they were written. Versions that no dart-train published may be without manifest.
 * @param folder The version's.
 * @throws DamagedFile where they are others than the manifest says, or it cannot be read; another DartError where they are
 *   missing or cut short: such a folder is no version, and the one before it is the newest.
 */
export async function readVersionWeights(folder: string): Promise<{ bytes: Uint8Array; path: string }> {
  const path = join(folder, 'weights.safetensors');
  const entry = entriesOf(folder)['weights.safetensors'];
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw fileError(error, 'read the weights', path);
  }
  if (entry && bytes.length !== entry.bytes) {
    const hint = 'use another published version, or write this one again';
    throw new DartError(`the file has ${bytes.length} bytes instead of ${entry.bytes}`, { where: path, hint });
  }
  if (entry?.sha256 !== undefined) checkDigest(sha256Of(bytes), entry.sha256, path);
  return { bytes, path };
}

/**
 * Looks whether the policy file of a published folder is the one that its newest version came from.
 * @param path The file; one that lies in no published folder is as it is.
 * @throws DamagedFile where it is another one.
 */
export function checkBegun(bytes: Uint8Array, path: string): void {
  const folder = dirname(path);
  const latest = latestSchema.safeParse(readJson(join(folder, 'latest.json')));
  if (latest.success) checkPolicyOf(resolve(folder, latest.data.path), bytes, path);
}

/** As `checkBegun`, of the version in this folder. */
export function checkPolicyOf(version: string, bytes: Uint8Array, path: string): void {
  const wanted = begunWith(version);
  if (wanted === null || wanted === sha256Of(bytes)) return;
  throw new DamagedFile(
    'the file is not as it was written: its sha256 is not that of the policy that the run began with',
    {
      where: path,
      hint: 'remove it; dart-train with the --policy that the run began with makes it again',
    },
  );
}

/** The sha256 of the policy that a version came from; null where it does not say, or what it says is damaged. */
export function begunWith(version: string): string | null {
  const path = join(version, 'state.json');
  const state = stateSchema.safeParse(readJson(path));
  if (!state.success) return null;
  const wanted = entriesOf(version)['state.json']?.sha256;
  return wanted === undefined || wanted === sha256Of(readFileSync(path)) ? state.data.base_sha256 : null;
}

/** What the manifest of a version says of its files. @throws DamagedFile where it is there and cannot be read. */
function entriesOf(folder: string): z.infer<typeof manifestSchema>['files'] {
  const path = join(folder, 'manifest.json');
  const json = readJson(path);
  if (json === undefined) return {};
  const manifest = manifestSchema.safeParse(json);
  if (manifest.success) return manifest.data.files;
  throw new DamagedFile('the file is not as it was written: it is no manifest', {
    where: path,
    hint: 'remove this version folder; the one before it is used then',
  });
}

/** Undefined where the file cannot be read, null where it is not JSON. */
function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
