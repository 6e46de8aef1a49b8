import type { Vfs } from './vfs.ts';

type JsonObject = Record<string, unknown>;

const parsed = new Map<string, { text: string; value: JsonObject }>();

/** Object in a JSON file; empty when there is no file or no object in it. The caller must not change it. */
export function readJson(vfs: Vfs, path: string): JsonObject {
  const text = vfs.readText(path);
  if (text === null) return {};
  const known = parsed.get(path);
  if (known?.text === text) return known.value;
  const value = parseObject(text);
  // Views ask for the same few files every frame; what policies write elsewhere does not come here.
  parsed.set(path, { text, value });
  return value;
}

/** Writes a value as an indented JSON file. */
export function writeJson(vfs: Vfs, path: string, value: unknown): void {
  vfs.write(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** The object that a text spells, or an empty one. */
export function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** True for an object that is no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
