import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { DartError } from '../../errors.ts';

/** Who the programs of a desktop run as. */
export interface DesktopUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * The user of that name, or the one that the server runs as.
 * @throws DartError where there is no such user, or only root may start programs as somebody else.
 */
export function desktopUser(name?: string): DesktopUser {
  const own = userInfo();
  if (name === undefined || name === own.username) return { name: own.username, uid: own.uid, gid: own.gid };
  const user = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(userOfLine)
    .find((each) => each?.name === name);
  if (!user) {
    throw new DartError(`this machine has no user ${name}`, { where: '--user', hint: `useradd --create-home ${name}` });
  }
  if (own.uid !== 0 && own.uid !== user.uid) {
    throw new DartError(`only root may start programs as ${name}`, { where: '--user', hint: 'leave --user out' });
  }
  return user;
}

/** A line of /etc/passwd. */
export function userOfLine(line: string): DesktopUser | null {
  const [name, , uid, gid] = line.split(':');
  if (!name || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return null;
  return { name, uid: Number(uid), gid: Number(gid) };
}
