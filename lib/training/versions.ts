import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { lstat, open, readdir, readlink, rename, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { checkDigest } from '../policy/network/published.ts';
import { fileError } from '../stream/errno.ts';
import { makeFolder, writeWhole } from '../stream/files.ts';
import { sha256Of } from '../stream/sha256.ts';

/**
 * The folder that versions of a policy are published in:
 *
 *     DIR/policy.onnx                     graph and base weights, written once; of the torch engine policy.json
 *     DIR/versions/000012/…               weights, optimiser, state; manifest.json was written last
 *     DIR/latest.json                     {"version":12,"path":"versions/000012"}
 *
 * A version is made in a hidden folder beside the others and renamed when it is whole. What a killed trainer leaves
 * behind is a hidden folder, or nothing.
 */
export const POLICY_FILE = 'policy.onnx';
export const TORCH_POLICY_FILE = 'policy.json';

/**
 * What the manifest says of a file: a link names what it points to, which is not read for a hash; nor is what is below
 * `state/`, six times as large as the model, which only its writer reads again.
 */
export interface ManifestEntry {
  bytes: number;
  sha256?: string;
  link?: string;
}

export interface Manifest {
  version: number;
  run_id: string;
  files: Record<string, ManifestEntry>;
}

/** `DIR/versions/000012`. */
export function versionFolder(dir: string, version: number): string {
  return join(dir, 'versions', String(version).padStart(6, '0'));
}

/** Whole versions, oldest first. A folder without manifest, or with a file of another size than it says, is not one. */
export function listVersions(dir: string): number[] {
  return versionNumbers(dir).filter((version) => damageOf(versionFolder(dir, version), version) === null);
}

/** Null where the folder is not a whole version. */
export function readManifest(folder: string): Manifest | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  } catch {
    return null;
  }
}

/** Why a folder is not a whole version; null where it is one. */
export function damageOf(folder: string, version: number): string | null {
  const manifest = readManifest(folder);
  if (!manifest?.files) return 'manifest.json is missing or cannot be read';
  if (manifest.version !== version) return `manifest.json is of version ${manifest.version}`;
  for (const [name, { bytes }] of Object.entries(manifest.files)) {
    const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size;
    if (size === undefined) return `${name} is missing`;
    if (size !== bytes) return `${name} has ${size} bytes instead of ${bytes}`;
  }
  return null;
}

/**
 * One line for each damaged version that is newer than the one used in its place: nobody should go on from an older
 * version without knowing.
 * @param used The version that is used; null where it is the weights that training began with.
 */
export function damageWarnings(dir: string, used: number | null): string[] {
  const instead = used === null ? 'the weights that training began with are' : `version ${used} is`;
  return versionNumbers(dir)
    .filter((version) => used === null || version > used)
    .map((version) => ({ version, why: damageOf(versionFolder(dir, version), version) }))
    .filter(({ why }) => why !== null)
    .map(({ version, why }) => `version ${version} of ${dir} is damaged (${why}); ${instead} used in its place`);
}

/** The numbers of all version folders, damaged ones too, oldest first. */
function versionNumbers(dir: string): number[] {
  const root = join(dir, 'versions');
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => /^\d{6,}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** A file of a version; throws a DartError where its bytes are not those that were written. */
export function readVersionFile(folder: string, name: string): Uint8Array {
  const path = join(folder, name);
  const wanted = readManifest(folder)?.files[name]?.sha256;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw fileError(error, 'read', path);
  }
  checkDigest(sha256Of(bytes), wanted, path);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Looks at a file of a version that may be larger than memory. @throws DartError as `readVersionFile` does. */
export async function checkVersionFile(folder: string, name: string): Promise<void> {
  const wanted = readManifest(folder)?.files[name]?.sha256;
  // What a link points to, and what somebody put there, is not the version's own.
  if (wanted !== undefined) checkDigest(await digestOf(join(folder, name)), wanted, join(folder, name));
}

/**
 * Writes a version whole: files, then the manifest, each flushed to the disk, then one rename. A folder of that version
 * which is there already (left by a run that died before it was made known) is replaced.
 * @param fill Puts the files into the folder that it is given; what it leaves there is the version.
 * @returns the version's folder.
 * @throws DartError: a full disk, a read-only folder. The versions before stay as they were.
 */
export async function writeVersion(
  dir: string,
  version: number,
  runId: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = versionFolder(dir, version);
  const root = join(dir, 'versions');
  const temporary = join(root, `.${String(version).padStart(6, '0')}.${process.pid}.tmp`);
  try {
    await rm(temporary, { recursive: true, force: true });
    await makeFolder(temporary);
    const manifest: Manifest = { version, run_id: runId, files: {} };
    await fill(temporary);
    for (const name of await filesIn(temporary)) manifest.files[name] = await sealed(temporary, name);
    await writeVersionFile(temporary, 'manifest.json', manifestText(manifest));
    await flushFolder(temporary);
    await rm(folder, { recursive: true, force: true });
    await rename(temporary, folder);
    await flushFolder(root);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => {});
    throw fileError(error, 'publish', folder);
  }
  return folder;
}

/** Makes a version the one that readers of the folder take. */
export async function pointLatest(dir: string, version: number): Promise<void> {
  const path = relative(dir, versionFolder(dir, version));
  await writeWhole(join(dir, 'latest.json'), `${JSON.stringify({ version, path })}\n`);
}

/**
 * Removes all but the newest `keep` versions, never those named in `spared`, and what killed runs left half-written.
 * Only one trainer publishes into a folder, so every hidden folder is a leftover.
 */
export async function pruneVersions(dir: string, keep: number, spared: readonly number[]): Promise<void> {
  const root = join(dir, 'versions');
  const versions = listVersions(dir);
  const old = versions.slice(0, Math.max(0, versions.length - keep)).filter((version) => !spared.includes(version));
  for (const version of old) await rm(versionFolder(dir, version), { recursive: true, force: true });
  await removeLeftovers(root);
}

/**
 * Removes `state/`, what a run goes on from, from all but the newest `keep` versions and those spared. The manifest is
 * rewritten first: a version is whole at every moment.
 */
export async function pruneStates(dir: string, keep: number, spared: readonly number[] = []): Promise<void> {
  const old = listVersions(dir).slice(0, -keep);
  for (const version of old.filter((candidate) => !spared.includes(candidate))) {
    const folder = versionFolder(dir, version);
    const manifest = readManifest(folder)!;
    const kept = Object.entries(manifest.files).filter(([name]) => !name.startsWith('state/'));
    if (kept.length < Object.keys(manifest.files).length) {
      await writeWhole(join(folder, 'manifest.json'), manifestText({ ...manifest, files: Object.fromEntries(kept) }));
    }
    await rm(join(folder, 'state'), { recursive: true, force: true });
  }
}

function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The version that `best.json` names, if there is one: an evaluation put it there and it is not pruned. */
export function bestVersion(dir: string): number | null {
  try {
    const { version } = JSON.parse(readFileSync(join(dir, 'best.json'), 'utf8')) as { version?: unknown };
    return typeof version === 'number' ? version : null;
  } catch {
    return null;
  }
}

async function removeLeftovers(root: string): Promise<void> {
  const names = await readdir(root).catch(() => []);
  const leftovers = names.filter((name) => /^\.\d{6,}\.\d+\.tmp$/.test(name));
  for (const name of leftovers) await rm(join(root, name), { recursive: true, force: true });
}

/** Writes a file of a version that is being made, flushed to the disk. */
export async function writeVersionFile(folder: string, name: string, data: Uint8Array | string): Promise<void> {
  const handle = await open(join(folder, name), 'wx');
  try {
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** All files and links below a folder, as paths within it, in order of their names. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
}

/** Size and hash of a file that whoever wrote it may not have flushed. It may be larger than memory. */
async function sealed(folder: string, name: string): Promise<ManifestEntry> {
  const path = join(folder, name);
  if ((await lstat(path)).isSymbolicLink()) return { bytes: (await stat(path)).size, link: await readlink(path) };
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
  if (name.startsWith('state/')) return { bytes: (await stat(path)).size };
  return { bytes: (await stat(path)).size, sha256: await digestOf(path) };
}

/** The sha256 of a file that may be larger than memory. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

async function flushFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().catch(() => {});
  await handle.close();
}
