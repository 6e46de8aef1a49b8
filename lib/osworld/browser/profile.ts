import { posix } from 'node:path';
import type { TaskContext } from '../context.ts';

export type Json = Record<string, unknown>;

/** Where Chrome and Chromium keep their profiles below the home folder; OSWorld's tasks know the first and the last. */
const FOLDERS = ['.config/google-chrome', '.config/chromium', 'snap/chromium/common/chromium'];

/** A file of the profile, with its path. */
export interface ProfileFile {
  path: string;
  bytes: Uint8Array;
}

/**
 * A file of the browser's profile, of the first browser that has it: `Local State`, or with its folder
 * `Default/Preferences`. Null when no browser has it.
 */
export async function profileFile(name: string, context: TaskContext): Promise<ProfileFile | null> {
  const home = await homeFolder(context);
  for (const folder of FOLDERS) {
    const path = posix.join(home, folder, name);
    const bytes = await context.guest.readFile(path);
    if (bytes !== null) return { path, bytes };
  }
  return null;
}

/** The path where `profileFile` looks first: where a file is written that no browser has yet. */
export async function profilePath(name: string, context: TaskContext): Promise<string> {
  return posix.join(await homeFolder(context), FOLDERS[0]!, name);
}

/** A JSON file of the profile; null when it is missing or broken. */
export async function profileJson(name: string, context: TaskContext): Promise<Json | null> {
  const file = await profileFile(name, context);
  return file === null ? null : jsonObject(file.bytes);
}

/** The object in a JSON file; null for anything else. */
export function jsonObject(bytes: Uint8Array): Json | null {
  const value = parsed(bytes);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

/** The list in a JSON file; null for anything else. */
export function jsonList(bytes: Uint8Array): unknown[] | null {
  const value = parsed(bytes);
  return Array.isArray(value) ? value : null;
}

/** The value as an object, an empty one where it is none. */
export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

/** The user's home folder: what holds the desktop's files. */
async function homeFolder(context: TaskContext): Promise<string> {
  return posix.dirname(await context.guest.desktopPath());
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
