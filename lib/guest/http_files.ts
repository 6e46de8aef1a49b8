import { setTimeout as sleep } from 'node:timers/promises';
import { DartError, messageOf } from '../errors.ts';
import { AnySignal } from '../stream/any_signal.ts';
import type { Guest } from './guest.ts';
import { BadRequest } from './http_body.ts';
import { type Call, type Reply, say } from './http_call.ts';
import { path, text } from './http_fields.ts';

/** OSWorld's limits for a download: tries, and the time for each, ms. */
const DOWNLOAD_TRIES = 3;
const DOWNLOAD_MS = 300_000;
const DOWNLOAD_PAUSE_MS = 1000;

/** `/file` */
export async function readFile({ guest, body }: Call): Promise<Reply> {
  const bytes = await guest.readFile(await path(guest, body, 'file_path'));
  if (bytes === null) throw new BadRequest(404, 'File not found');
  return { bytes, type: 'application/octet-stream' };
}

/** `/setup/upload` */
export async function upload({ guest, body }: Call): Promise<Reply> {
  const target = await path(guest, body, 'file_path');
  const data = body.file_data;
  if (!(data instanceof Uint8Array)) throw new BadRequest(400, 'file_data is missing');
  await guest.writeFile(target, data);
  return say(`File Uploaded: ${data.length} bytes`);
}

/** `/list_directory` */
export async function listDirectory({ guest, body }: Call): Promise<Reply> {
  const tree = await guest.listDirectory(await path(guest, body, 'path'));
  if (tree === null) throw new BadRequest(400, 'The provided path is not a directory');
  return { json: { directory_tree: tree } };
}

/** `/setup/open_file`: a file, or the name of a program. */
export async function openFile({ guest, body }: Call): Promise<Reply> {
  const target = await path(guest, body, 'path');
  if (await exists(guest, target)) {
    await guest.openFile(target);
    return say('File opened and window activated successfully');
  }
  if ((await guest.execute(['which', target])).returncode !== 0) {
    throw new BadRequest(404, `Application/file not found: ${target}`);
  }
  await guest.launch([target]);
  return say('File opened and window activated successfully');
}

/** `/wallpaper` */
export async function wallpaper({ guest }: Call): Promise<Reply> {
  const bytes = await guest.wallpaper();
  if (bytes === null) throw new BadRequest(404, 'Wallpaper file not found');
  return { bytes, type: 'image/png' };
}

/** `/setup/change_wallpaper` */
export async function changeWallpaper({ guest, body }: Call): Promise<Reply> {
  const target = await path(guest, body, 'path');
  if (!(await exists(guest, target))) throw new BadRequest(404, `File not found: ${target}`);
  await guest.setWallpaper(target);
  return say('Wallpaper changed successfully');
}

/** `/setup/download_file`: from the desktop's network into the desktop. */
export async function downloadFile({ guest, body, downloads, signal }: Call): Promise<Reply> {
  const url = text(body, 'url');
  const target = await path(guest, body, 'path');
  if (!/^https?:\/\//i.test(url)) throw new BadRequest(400, 'url must begin with http:// or https://');
  if (!downloads) throw new DartError('this desktop has no network to download from', { where: guest.id });
  const bytes = await download(guest.id, url, signal);
  await guest.writeFile(target, bytes);
  return say(`File downloaded successfully: ${bytes.length} bytes`);
}

async function download(where: string, url: string, signal: AbortSignal): Promise<Uint8Array> {
  let problem: unknown;
  for (let attempt = 1; attempt <= DOWNLOAD_TRIES; attempt++) {
    const stop = new AnySignal([signal], DOWNLOAD_MS);
    try {
      if (attempt > 1) await sleep(DOWNLOAD_PAUSE_MS, undefined, { signal });
      const response = await fetch(url, { signal: stop.signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      problem = error;
      signal.throwIfAborted();
    } finally {
      stop.release();
    }
  }
  throw new DartError(`Failed to download ${url} in ${DOWNLOAD_TRIES} tries: ${messageOf(problem)}`, { where });
}

async function exists(guest: Guest, target: string): Promise<boolean> {
  return (await guest.execute(['test', '-e', target])).returncode === 0;
}
