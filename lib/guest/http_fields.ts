import type { Guest, WindowMatch } from './guest.ts';
import { BadRequest } from './http_body.ts';
import { shellWords } from './shell_words.ts';

export type Body = Readonly<Record<string, unknown>>;

/** Seconds that a client may ask for at most. */
const MAX_SECONDS = 3600;

/** A text that must be there. */
export function text(body: Body, name: string): string {
  const value = body[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new BadRequest(400, value === undefined || value === '' ? `${name} is missing` : `${name} must be a string`);
}

/** A path; `~` and `$HOME` at its beginning are the desktop's. */
export async function path(guest: Guest, body: Body, name: string): Promise<string> {
  return atHome(guest, text(body, name), /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/);
}

/** `true`, also as the string that task files have. */
export function flag(body: Body, name: string): boolean {
  const value = body[name];
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
}

/** A number of seconds as milliseconds. */
export function milliseconds(body: Body, name: string, usual: number): number {
  const value = body[name] ?? usual;
  if (typeof value === 'number' && value >= 0 && value <= MAX_SECONDS) return value * 1000;
  throw new BadRequest(400, `${name} must be a number of seconds, at most ${MAX_SECONDS}`);
}

export interface Command {
  command: string | string[];
  shell: boolean;
}

/** A command: a line for a shell, or words; a line without a shell is split as Python's `shlex` does. */
export async function command(guest: Guest, body: Body): Promise<Command> {
  const shell = flag(body, 'shell');
  const given = body.command;
  if (typeof given === 'string' && given !== '' && shell) return { command: given, shell };
  const words = typeof given === 'string' ? shellWords(given) : given;
  if (words === null && given !== null) throw new BadRequest(400, 'a quote in command is not closed');
  if (!Array.isArray(words) || words.length === 0 || !words.every((word) => typeof word === 'string')) {
    throw new BadRequest(400, 'command must be a string or a list of strings');
  }
  return { command: await Promise.all(words.map((word: string) => atHome(guest, word, /^~(?=\/)/))), shell };
}

/** How a window is looked for. */
export function windowMatch(body: Body): WindowMatch {
  return { strict: flag(body, 'strict'), byClass: flag(body, 'by_class') };
}

async function atHome(guest: Guest, path: string, sign: RegExp): Promise<string> {
  if (!sign.test(path)) return path;
  const home = (await guest.desktopPath()).replace(/\/[^/]*$/, '');
  return path.replace(sign, () => home);
}
