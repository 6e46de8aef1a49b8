import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { DartError } from '../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const FORMS = 'sqlite:PATH, or mysql://USER@HOST/DATABASE';

/** The toolkit's state folder; a relative XDG_STATE_HOME is invalid and ignored, as the XDG rules say. */
export function stateFolder(env: Environment = process.env): string {
  const given = env.XDG_STATE_HOME;
  const state = given && isAbsolute(given) ? given : join(env.HOME || homedir(), '.local', 'state');
  return join(state, 'dart');
}

/** `sqlite:$XDG_STATE_HOME/dart/dart.db`. */
export function defaultStoreUrl(env: Environment = process.env): string {
  return `sqlite:${join(stateFolder(env), 'dart.db')}`;
}

export type StoreKind = 'sqlite' | 'mysql';

/** Which database a URL names; any other than the two is refused by name. */
export function storeKind(url: string): StoreKind {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'sqlite') return 'sqlite';
  if (scheme === 'mysql' || scheme === 'mariadb') return 'mysql';
  const what = scheme
    ? `stores of the kind "${scheme}:" are not supported`
    : `"${withoutPassword(url)}" is not the address of a store`;
  throw new DartError(what, { where: '--store', hint: FORMS });
}

/** Path of a `sqlite:` URL. */
export function sqlitePath(url: string): string {
  const path = storeKind(url) === 'sqlite' ? url.slice(url.indexOf(':') + 1) : '';
  if (path !== '') return path.replace(/^\/\/(?=\/)/, '');
  throw new DartError(`"${withoutPassword(url)}" names no file`, { where: '--store', hint: 'sqlite:PATH' });
}

/** The same store, with a relative path taken from the folder `cwd`. */
export function storeUrlFrom(url: string, cwd: string): string {
  if (storeKind(url) === 'mysql') return url;
  const path = sqlitePath(url);
  return path === ':memory:' ? url : `sqlite:${resolve(cwd, path)}`;
}

/** The URL without the password in it, for messages and records. */
export function withoutPassword(text: string): string {
  // Up to the last @ before the path: a password may have @, : and ? in it.
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/[^/:@\s]*):[^\s/]*@/gi, '$1:***@');
}

/** A copy of a JSON value in which no text holds a password of a URL. */
export function withoutPasswords(value: unknown): unknown {
  if (typeof value === 'string') return withoutPassword(value);
  if (Array.isArray(value)) return value.map(withoutPasswords);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutPasswords(inner)]));
}
