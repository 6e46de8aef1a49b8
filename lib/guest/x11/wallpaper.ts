import { DartError } from '../../errors.ts';
import type { Guest } from '../guest.ts';

const SETTING = ['org.gnome.desktop.background', 'picture-uri'];

/** Shows the picture behind the windows, and says so in GNOME's setting where the desktop has it. */
export async function showWallpaper(guest: Guest, path: string): Promise<void> {
  const { returncode, error } = await guest.execute(['feh', '--bg-fill', path]);
  if (returncode !== 0) throw new DartError(`the wallpaper cannot be shown: ${error.trim()}`, { where: guest.id });
  await guest.execute(['sh', '-c', 'gsettings set "$1" "$2" "$3" || true', 'sh', ...SETTING, `'file://${path}'`]);
}

/** The picture that was set last, by GNOME's setting or by feh; null where there is none. */
export async function readWallpaper(guest: Guest): Promise<Uint8Array | null> {
  const setting = await guest.execute(['sh', '-c', 'gsettings get "$1" "$2" 2> /dev/null || true', 'sh', ...SETTING]);
  const remembered = await guest.readFile('~/.fehbg');
  const paths = [pathOfSetting(setting.output), remembered && pathOfFeh(Buffer.from(remembered).toString('utf8'))];
  for (const path of paths) {
    // A setting may name a picture that was never installed.
    const picture = path ? await guest.readFile(path) : null;
    if (picture !== null) return picture;
  }
  return null;
}

/** `'file:///home/user/a%20b.png'` */
export function pathOfSetting(output: string): string | null {
  const found = /^'file:\/\/(\/.+)'\s*$/.exec(output)?.[1];
  return found === undefined ? null : decodeURIComponent(found);
}

/** The script that feh leaves in the home folder: the picture is its last word, in single quotes. */
export function pathOfFeh(script: string): string | null {
  const found = /'((?:[^']|'\\'')+)'\s*$/.exec(script)?.[1];
  return found === undefined ? null : found.replaceAll("'\\''", "'");
}
