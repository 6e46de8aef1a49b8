import { existsSync, readFileSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { DartError } from '../errors.ts';
import { fileError } from '../stream/errno.ts';
import { parseJsonFile } from '../stream/json.ts';
import { xdgFolder } from './paths.ts';
import type { Io } from './spec.ts';
import { nearest, UsageError } from './usage.ts';

const EXAMPLE = '{"temperature": 0.7}';

export interface Config {
  /** Path of the file, for messages. */
  path: string;
  values: Map<string, unknown>;
  /** Keys that look like misspelled options. */
  warnings: string[];
}

/**
 * The config file: a JSON object whose keys are option names. Objects under a command's name (`"dart-train": {…}`, and
 * in it a subcommand's) hold for that command only and go before the common ones.
 * @param given Path from `--config` or `DART_CONFIG`; without it the default file is read where it exists.
 * @param commands Names from the command down: `['dart-eval', 'score']`.
 * @throws DartError for a file that cannot be read or is no JSON object, UsageError for an unknown option in a section.
 */
export function readConfig(
  given: string | undefined,
  commands: readonly string[],
  known: ReadonlySet<string>,
  io: Pick<Io, 'env' | 'cwd'>,
): Config | null {
  const path = given ?? join(xdgFolder('config', io.env), 'config.json');
  const full = isAbsolute(path) ? path : join(io.cwd, path);
  if (given === undefined && !existsSync(full)) return null;
  const config: Config = { path, values: new Map(), warnings: [] };
  let section: Record<string, unknown> | undefined = parse(full, path);
  collect(config, section, known, false);
  for (const command of commands) {
    section = sectionOf(section, command, path);
    if (!section) break;
    collect(config, section, known, true);
  }
  return config;
}

function parse(full: string, path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(full, 'utf8');
  } catch (error) {
    throw fileError(error, 'read the config file', path);
  }
  const value = parseJsonFile(text, path, EXAMPLE);
  if (isObject(value)) return value;
  throw new DartError('expected a JSON object', { where: path, hint: EXAMPLE });
}

function collect(config: Config, section: Record<string, unknown>, known: ReadonlySet<string>, own: boolean): void {
  for (const [key, value] of Object.entries(section)) {
    if (known.has(key)) {
      if (value !== null) config.values.set(key, value);
      continue;
    }
    // An object is another command's section; a plain unknown key at the top may be another command's option.
    if (isObject(value)) continue;
    const near = nearest(key, known);
    if (own) throw new UsageError(`unknown option '${key}'`, { where: config.path, hint: near });
    if (near) config.warnings.push(`${basename(config.path)}: '${key}' is no option of this command. Try: ${near}`);
  }
}

function sectionOf(section: Record<string, unknown>, name: string, path: string): Record<string, unknown> | undefined {
  const value = section[name];
  if (value === undefined || isObject(value)) return value;
  throw new DartError(`expected an object under '${name}'`, { where: path });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
