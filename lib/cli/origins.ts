import type { DartError } from '../errors.ts';
import type { Resolved } from './resolve.ts';

/** What people read of an error. */
export interface Told {
  message: string;
  where: string | undefined;
  hint: string | undefined;
}

/**
 * An error in the words of whoever gave the value: an option that nobody wrote as a flag goes by the name of its variable,
 * or by its place in the config file.
 */
export function withOrigins(error: DartError, options: ReadonlyMap<string, Resolved>): Told {
  const { message, where, hint } = error;
  const originOf = (flag: string) => {
    const name = flag.slice(2);
    const resolved = options.get(name) ?? options.get(name.replace(/^no-/, ''));
    return resolved?.origin === 'environment' || resolved?.origin === 'config' ? resolved.where : undefined;
  };
  const place = where?.replace(FLAG, (flag) => originOf(flag) ?? flag);
  if (place !== where) return { message, where: place, hint };
  const named = [...new Set(message.match(FLAG) ?? [])];
  const from = named.flatMap((flag) => originOf(flag) ?? []).join(', ');
  return { message: from === '' ? message : `${message} (from ${from})`, where, hint };
}

const FLAG = /(?<![\w-])--[a-z][a-z0-9-]*/g;
