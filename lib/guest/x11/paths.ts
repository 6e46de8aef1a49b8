import { join } from 'node:path';

/** The home folder of OSWorld's desktops, which its tasks name. */
export const OSWORLD_HOME = '/home/user';

/** What the desktop's own home stands for, in paths and commands of tasks. */
export class HomePaths {
  readonly home: string;

  constructor(home: string) {
    this.home = home;
  }

  /** Puts the desktop's home in place of `/home/user`, wherever that is a whole path or begins one. */
  inText(text: string): string {
    if (this.home === OSWORLD_HOME) return text;
    return text.replace(/(?<=^|[^\w./-]|:\/\/)\/home\/user(?![\w.-])/g, () => this.home);
  }

  /** A path of a request: `~`, `$HOME`, and paths from the home folder on. */
  inPath(path: string): string {
    const whole = this.inText(path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, () => this.home));
    return whole.startsWith('/') ? whole : join(this.home, whole);
  }
}
