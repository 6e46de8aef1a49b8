import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

type Environment = Readonly<Record<string, string | undefined>>;

const FOLDERS = { config: '.config', state: '.local/state', cache: '.cache', data: '.local/share' } as const;

/**
 * The toolkit's folder of one kind by the XDG base directory specification: `$XDG_STATE_HOME/dart`, or the default under
 * the home folder. Relative XDG paths are invalid and passed over, as the specification says.
 */
export function xdgFolder(kind: keyof typeof FOLDERS, env: Environment): string {
  const given = env[`XDG_${kind.toUpperCase()}_HOME`];
  if (given && isAbsolute(given)) return join(given, 'dart');
  return join(env.HOME || homedir(), FOLDERS[kind], 'dart');
}

/** The folder of the package: the checkout, or where npm installed it. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** Version of the package, from its package.json. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return String((JSON.parse(text) as { version: unknown }).version);
}
