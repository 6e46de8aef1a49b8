import { readFile, realpath } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { DartError, messageOf } from '../errors.ts';
import type { TaskContext } from './context.ts';

/** A file of the task that cannot be had: the task's or the network's fault, and no desktop's. */
export class MissingAsset extends DartError {}

function missing({ task }: TaskContext, message: string, hint?: string): DartError {
  return new MissingAsset(message, { where: task.task_id, hint });
}

/**
 * The bytes behind a URL of a task file: a `data:` URL; else a file of the assets folder, at the URL's path as the
 * OSWorld file cache has it (`…/resolve/main/<path>`), at its whole path, or a plain relative path; else, for http(s),
 * the asset cache, which downloads what it does not have. Nothing outside the folder is read, symbolic links included.
 * Throws a DartError that names task and URL.
 */
export async function readAsset(url: string, context: TaskContext): Promise<Uint8Array> {
  if (url.startsWith('data:')) return readDataUrl(url, context);
  const cached = context.assetCache && /^https?:\/\//.test(url);
  if (context.assetsDir !== null) {
    const { bytes, path } = await readMirrored(url, context.assetsDir, context);
    if (bytes !== null) return bytes;
    if (!cached) throw missing(context, `asset ${url} is missing`, `put it at ${path}`);
  }
  if (!cached) {
    throw missing(context, `no assets folder to take ${url} from`, '--assets DIR with the files of the task');
  }
  return context.assetCache!.read(url, { signal: context.signal }).catch((cause: unknown) => {
    if (context.signal?.aborted) throw cause;
    const { where, message, hint } =
      cause instanceof DartError ? cause : { where: url, message: messageOf(cause), hint: undefined };
    throw missing(context, `asset ${where ?? url}: ${message}`, hint);
  });
}

async function readMirrored(
  url: string,
  folder: string,
  context: TaskContext,
): Promise<{ bytes: Uint8Array | null; path: string }> {
  const root = await realpath(folder).catch(() => resolve(folder));
  const path = join(root, assetPath(url, context));
  const real = await realpath(path).catch(() => null);
  if (real === null) return { bytes: null, path };
  if (!isInside(root, real)) throw missing(context, `asset ${url} lies outside the assets folder`);
  return { bytes: await readFile(real), path };
}

function isInside(root: string, path: string): boolean {
  const step = relative(root, path);
  return step !== '' && step !== '..' && !step.startsWith(`..${sep}`) && !step.startsWith(sep);
}

function assetPath(url: string, context: TaskContext): string {
  const parts = withoutOrigin(url, context)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.includes('..') || parts.some((part) => part.includes('\0') || part.includes('\\'))) {
    throw missing(context, `asset "${url}" would leave the assets folder`, 'a path without ".."');
  }
  return parts.join(sep);
}

function withoutOrigin(url: string, context: TaskContext): string {
  const cached = url.split('/resolve/main/')[1];
  const path = cached ?? url.replace(/^(https?|file):\/\/[^/]*/, '');
  try {
    return decodeURIComponent(path.replace(/[?#].*$/, ''));
  } catch {
    throw missing(context, `"${url}" is not a URL`);
  }
}

function readDataUrl(url: string, context: TaskContext): Uint8Array {
  const match = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url);
  if (match === null) throw missing(context, `bad data: URL "${url.slice(0, 40)}"`);
  const body = match[2] ?? '';
  if (match[1] !== undefined) return Buffer.from(body, 'base64');
  try {
    return Buffer.from(decodeURIComponent(body), 'utf8');
  } catch {
    throw missing(context, `bad data: URL "${url.slice(0, 40)}"`);
  }
}
