import { join } from 'node:path';
import { SYSTEM_PATH } from './machine.ts';
import type { DesktopUser } from './user.ts';

/** What of the server's own environment its programs may see: nothing secret. */
const PASSED_ON = [
  'TZ',
  'LC_ALL',
  'LC_CTYPE',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
];

/** Makes programs show their widgets to the accessibility bus. */
const ACCESSIBLE = {
  ACCESSIBILITY_ENABLED: '1',
  GNOME_ACCESSIBILITY: '1',
  QT_ACCESSIBILITY: '1',
  QT_LINUX_ACCESSIBILITY_ALWAYS_ON: '1',
  SAL_USE_VCLPLUGIN: 'gtk3',
};

export interface VariableSources {
  /** `DART_DESKTOP=<id>` marks each of its processes: by it they are found and ended. */
  id: string;
  folder: string;
  home: string;
  user: DesktopUser;
  /** Variables of the server. */
  own: Readonly<Record<string, string | undefined>>;
}

/** The environment of a desktop's programs, but for the display and the buses, which the session adds. */
export function desktopVariables({ id, folder, home, user, own }: VariableSources): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  return {
    ...Object.fromEntries(passed),
    ...ACCESSIBLE,
    DART_DESKTOP: id,
    PATH: `${join(folder, 'bin')}:${SYSTEM_PATH}`,
    PYTHONPATH: join(folder, 'python'),
    HOME: home,
    USER: user.name,
    LOGNAME: user.name,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TMPDIR: join(folder, 'tmp'),
    XDG_RUNTIME_DIR: join(folder, 'run'),
    XAUTHORITY: join(folder, 'run', 'xauthority'),
    XDG_SESSION_TYPE: 'x11',
    GDK_BACKEND: 'x11',
    LIBGL_ALWAYS_SOFTWARE: '1',
  };
}
