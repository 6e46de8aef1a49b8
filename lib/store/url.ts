import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { DartError } from '../errors.ts';

/** `sqlite:$XDG_STATE_HOME/dart/dart.db`; a relative XDG_STATE_HOME is invalid and ignored, as the XDG rules say. */
export function defaultStoreUrl(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const given = env.XDG_STATE_HOME;
  const state = given && isAbsolute(given) ? given : join(env.HOME || homedir(), '.local', 'state');
  return `sqlite:${join(state, 'dart', 'dart.db')}`;
}

/** Path of a `sqlite:` URL. Anything else is refused by name. */
export function sqlitePath(url: string): string {
  const match = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url);
  const scheme = match?.[1]?.toLowerCase();
  if (scheme === 'sqlite' && match?.[2]) return match[2].replace(/^\/\/(?=\/)/, '');
  const what = scheme ? `stores of the kind "${scheme}:" are not supported` : `"${url}" is not the address of a store`;
  throw new DartError(what, { where: '--store', hint: 'sqlite:PATH' });
}

/** The same store, with a relative path taken from the folder `cwd`. */
export function storeUrlFrom(url: string, cwd: string): string {
  const path = sqlitePath(url);
  return path === ':memory:' ? url : `sqlite:${resolve(cwd, path)}`;
}
