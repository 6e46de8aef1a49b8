import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DartError } from '../../errors.ts';

/** Where programs of a desktop are looked for: the system's own, whatever the server was started with. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/games:/usr/games';

const A11Y_LAUNCHERS = ['/usr/libexec/at-spi-bus-launcher', '/usr/lib/at-spi2-core/at-spi-bus-launcher'];

/** Where a program is; null where the machine has none of that name. */
export function findProgram(name: string): string | null {
  const found = SYSTEM_PATH.split(':')
    .map((folder) => join(folder, name))
    .find(isExecutable);
  return found ?? null;
}

/** The files of the desktop image that the guest needs at run time: `python` has its helpers. */
export function imageFolder(name: 'python' | 'packages'): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'fixtures', 'desktop-image', name);
    if (existsSync(path)) return path;
  }
  throw new DartError(`the folder fixtures/desktop-image/${name} is missing`, {
    where: 'the installation',
    hint: 'install the package again, or copy the folder beside dist/ into the image',
  });
}

/** The Debian packages of `fixtures/desktop-image/packages/guest.txt`. */
export function debianPackages(): string[] {
  const text = readFileSync(join(imageFolder('packages'), 'guest.txt'), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** What to type where programs are missing. */
export function installHint(packages: readonly string[] = debianPackages()): string {
  return `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
}

export interface DesktopPrograms {
  xvfb: string;
  dbus: string;
  python: string;
  a11y: string;
  windowManager: string;
}

/** Folders of `python` that the machine's own Python lacks: a pyautogui that is installed goes before ours. */
export function pythonModules(python: string): string[] {
  const code = 'import importlib.util as u, sys; print(*[m for m in sys.argv[1:] if u.find_spec(m) is None])';
  const env = { PATH: SYSTEM_PATH };
  return execFileSync(python, ['-c', code, 'dart_x11', 'pyautogui', 'pyperclip'], { env, cwd: '/', encoding: 'utf8' })
    .trim()
    .split(' ');
}

/** What this machine lacks for a desktop; empty where it lacks nothing. */
export function missingPrograms(find = findProgram): string[] {
  const needed = ['Xvfb', 'openbox', 'dbus-daemon', 'dbus-send', 'python3'].filter((name) => find(name) === null);
  return A11Y_LAUNCHERS.some(isExecutable) ? needed : [...needed, 'at-spi-bus-launcher'];
}

/** @throws DartError that names what is missing and how to get it. */
export function desktopPrograms(find = findProgram): DesktopPrograms {
  const missing = missingPrograms(find);
  if (missing.length > 0) {
    throw new DartError(`this machine has no ${missing.join(', no ')}`, { where: 'xvfb', hint: installHint() });
  }
  return {
    xvfb: findProgram('Xvfb')!,
    dbus: findProgram('dbus-daemon')!,
    python: findProgram('python3')!,
    a11y: A11Y_LAUNCHERS.find(isExecutable)!,
    windowManager: findProgram('openbox')!,
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
