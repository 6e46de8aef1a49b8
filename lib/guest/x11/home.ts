import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DartError } from '../../errors.ts';
import type { Programs } from './programs.ts';
import type { DesktopUser } from './user.ts';

/** Says that a folder is a desktop's home, and may be emptied. */
const MARK = '.dart-home';
const FOLDERS = ['Desktop', 'Documents', 'Downloads', 'Music', 'Pictures', 'Videos'];

/** Editors that open plain text where the skeleton does not say otherwise, the first that is installed. */
const EDITORS = ['org.gnome.gedit.desktop', 'org.xfce.mousepad.desktop'];
const ENTRIES = ['/usr/local/share/applications', '/usr/share/applications'];
const PREFER = '[ -e "$1/mimeapps.list" ] || { mkdir -p -- "$1" && printf %s "$2" > "$1/mimeapps.list"; }';

/** A `mimeapps.list` of the editors that are installed; null where there is none. */
export function defaultsList(isThere: (path: string) => boolean = existsSync): string | null {
  const there = EDITORS.filter((entry) => ENTRIES.some((folder) => isThere(join(folder, entry))));
  return there.length === 0 ? null : `[Default Applications]\ntext/plain=${there.join(';')};\n`;
}

/**
 * Takes the folder as a desktop's home: it will be emptied at every reset.
 * @throws DartError where it has files and was never such a home.
 */
export function claimHome(home: string, user: DesktopUser): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (!existsSync(join(home, MARK)) && readdirSync(home).length > 0) {
    throw new DartError('this folder has files, and a desktop would remove them', {
      where: home,
      hint: 'an empty folder or one that does not exist, and --skeleton DIR for files to begin with',
    });
  }
  if (process.getuid?.() === 0) chownSync(home, user.uid, user.gid);
}

/** Empties the home and fills it anew: the usual folders, what the skeleton has, and who opens text if it does not say. */
export async function restoreHome(home: string, skeleton: string | null, programs: Programs): Promise<void> {
  for (const name of readdirSync(home)) await rm(join(home, name), { recursive: true, force: true });
  writeFileSync(join(home, MARK), '');
  // By the user's own hand: all of it is the user's, and nothing is copied that the user may not read.
  const script = 'cd -- "$1" && shift && mkdir -p -- "$@"';
  await run(programs, ['sh', '-c', script, 'sh', home, ...FOLDERS], home);
  if (skeleton !== null) await run(programs, ['cp', '-rT', '--preserve=mode,timestamps,links', skeleton, home], home);
  const list = defaultsList();
  // Where an office suite is installed it takes plain text for itself, and rewrites it in its own way.
  if (list !== null) await run(programs, ['sh', '-c', PREFER, 'sh', join(home, '.config'), list], home);
}

async function run(programs: Programs, argv: string[], home: string): Promise<void> {
  const { returncode, error } = await programs.run(argv, { cwd: '/' });
  if (returncode === 0) return;
  throw new DartError(`the home folder cannot be made: ${error.trim()}`, { where: home });
}
