import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

/**
 * Loaded before a trainer (`node --import`), kills it with SIGKILL at a moment of its writing to the folder
 * DART_KILL_FOLDER: before a file is opened, halfway through its bytes, before a rename, a removal, and before the flush
 * that follows the rename of a version. DART_KILL_AT names the moment, DART_KILL_TIME which time of it is meant, from 1.
 */
const folder = String(process.env.DART_KILL_FOLDER);
let left = Number(process.env.DART_KILL_TIME);

function isMoment(moment: string, path: unknown): boolean {
  if (moment !== process.env.DART_KILL_AT || !String(path).startsWith(folder)) return false;
  left -= 1;
  return left === 0;
}

function dieAt(moment: string, path: unknown): void {
  if (isMoment(moment, path)) process.kill(process.pid, 'SIGKILL');
}

/** The name of a file, also under the temporary one that it is written by. */
function nameOf(path: unknown): string {
  const name = basename(String(path)).replace(/^\.(.+)\.[0-9a-f]{8}\.\d+\.[0-9a-z]+\.\d+\.tmp$/, '$1');
  return name.replace(/^\d{6}$/, 'the version');
}

function halving(handle: FileHandle, path: unknown): FileHandle {
  const whole = handle.writeFile.bind(handle);
  handle.writeFile = async (data: Parameters<FileHandle['writeFile']>[0], options) => {
    if (isMoment(`halfway through ${nameOf(path)}`, path)) {
      const bytes = Buffer.from(data as Uint8Array);
      await handle.write(bytes.subarray(0, bytes.length / 2));
      process.kill(process.pid, 'SIGKILL');
    }
    await whole(data, options);
  };
  return handle;
}

const { open, rename, rm } = promises;
promises.open = async (path, flags, mode) => {
  if (flags === 'wx') {
    dieAt(`before ${nameOf(path)}`, path);
    return halving(await open(path, flags, mode), path);
  }
  if (basename(String(path)) === 'versions') dieAt('before the flush of versions', path);
  return open(path, flags, mode);
};
promises.rename = async (from, to) => {
  dieAt(`before the rename of ${nameOf(to)}`, to);
  await rename(from, to);
};
promises.rm = async (path, options) => {
  if (options?.recursive) dieAt(`before the removal of ${nameOf(path)}`, path);
  await rm(path, options);
};
syncBuiltinESMExports();
