import type { App, System } from '../apps/app.ts';
import { CalcApp } from '../apps/calc/calc.ts';
import { ChromeApp } from '../apps/chrome/chrome.ts';
import { CodeApp } from '../apps/code/code.ts';
import { FilesApp } from '../apps/files.ts';
import { GimpApp } from '../apps/gimp/gimp.ts';
import { ImpressApp } from '../apps/impress.ts';
import { SettingsApp } from '../apps/settings.ts';
import { TerminalApp } from '../apps/terminal.ts';
import { ThunderbirdApp } from '../apps/thunderbird/thunderbird.ts';
import { VlcApp } from '../apps/vlc.ts';
import { WriterApp } from '../apps/writer/writer.ts';
import { extensionOf } from '../files/vfs.ts';
import type { IconName } from '../screen/font.ts';

/** An installed application. */
export interface Program {
  /** Name in the dock. */
  dock: string;
  icon: IconName;
  /** Name of its `application` node. */
  application: string;
  /** Window class, for `byClass`. */
  windowClass: string;
  /** Command names that start it. */
  commands: string[];
  create: (system: System) => App;
}

export const PROGRAMS: readonly Program[] = [
  program(
    'Chrome',
    'chrome',
    'Google Chrome',
    'google-chrome',
    ['chromium', 'chrome', 'google-chrome-stable'],
    (s) => new ChromeApp(s),
  ),
  program('GIMP', 'gimp', 'GIMP', 'gimp', [], (s) => new GimpApp(s)),
  program('Calc', 'calc', 'LibreOffice Calc', 'libreoffice-calc', ['localc'], (s) => new CalcApp(s)),
  program('Slides', 'slides', 'LibreOffice Impress', 'libreoffice-impress', ['loimpress'], (s) => new ImpressApp(s)),
  program('Writer', 'writer', 'LibreOffice Writer', 'libreoffice-writer', ['lowriter'], (s) => new WriterApp(s)),
  program('Mail', 'mail', 'Thunderbird', 'thunderbird', [], (s) => new ThunderbirdApp(s)),
  program('VLC', 'vlc', 'VLC media player', 'vlc', [], (s) => new VlcApp(s)),
  program('Code', 'code', 'Code', 'code', [], (s) => new CodeApp(s)),
  program('Files', 'files', 'Files', 'nautilus', ['files'], (s) => new FilesApp(s)),
  program('Term', 'term', 'Terminal', 'gnome-terminal', ['xterm', 'terminal'], (s) => new TerminalApp(s)),
  program('System', 'system', 'Settings', 'gnome-control-center', ['settings'], (s) => new SettingsApp(s)),
];

function program(
  dock: string,
  icon: IconName,
  application: string,
  windowClass: string,
  more: string[],
  create: (system: System) => App,
): Program {
  return { dock, icon, application, windowClass, commands: [windowClass, ...more], create };
}

function byDock(dock: string): Program {
  const found = PROGRAMS.find((p) => p.dock === dock);
  if (!found) throw new Error(`no program ${dock}`);
  return found;
}

const OFFICE_FLAGS: Record<string, string> = { '--calc': 'Calc', '--impress': 'Slides', '--writer': 'Writer' };
const OFFICE_ENDINGS: Record<string, string> = { '.csv': 'Calc', '.ods': 'Calc', '.odp': 'Slides' };

/** The program that a command line starts, and its arguments; null when there is none of that name. */
export function programOf(argv: string[]): { program: Program; args: string[] } | null {
  const name = (argv[0] ?? '').replace(/^.*\//, '');
  const args = argv.slice(1).filter((arg) => !arg.startsWith('-') && arg !== '');
  if (name === 'libreoffice' || name === 'soffice') {
    const flag = argv.map((arg) => OFFICE_FLAGS[arg]).find((dock) => dock !== undefined);
    return { program: byDock(flag ?? OFFICE_ENDINGS[extensionOf(args[0] ?? '')] ?? 'Writer'), args };
  }
  const found = PROGRAMS.find((p) => p.commands.includes(name));
  return found ? { program: found, args } : null;
}

const ENDINGS: Record<string, string> = {
  '.csv': 'Calc',
  '.ods': 'Calc',
  '.odp': 'Slides',
  '.md': 'Writer',
  '.odt': 'Writer',
  '.png': 'GIMP',
  '.mp3': 'VLC',
  '.mp4': 'VLC',
  '.m3u': 'VLC',
  '.html': 'Chrome',
};

/** The program for a file, by its ending and the chosen defaults. */
export function programForFile(path: string, defaultApp: (type: string) => string | null): Program {
  const ending = extensionOf(path);
  if (ending === '.txt' && defaultApp('text/plain') === 'writer') return byDock('Writer');
  if (ending === '.png' && defaultApp('image/png') === 'google-chrome') return byDock('Chrome');
  return byDock(ENDINGS[ending] ?? 'Code');
}

/** The file manager. */
export function filesProgram(): Program {
  return byDock('Files');
}
