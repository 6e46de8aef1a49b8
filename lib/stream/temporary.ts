import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

let serial = 0;

/**
 * A name in the same folder, hidden, that no other process or call uses: `.NAME.HOST.PID.START.N.tmp`. It says which
 * process on which machine writes it, so that another one can tell when nobody will finish it.
 */
export function temporaryName(path: string): string {
  serial += 1;
  const writer = `${here()}.${process.pid}.${startOf(process.pid) ?? '0'}`;
  // Names have 255 bytes at most, and a character up to four.
  return join(dirname(path), `.${basename(path).slice(0, 50)}.${writer}.${serial}.tmp`);
}

const LEFTOVER = /^\..+\.([0-9a-f]{8})\.(\d+)\.([0-9a-z]+)\.\d+\.tmp$/;

/**
 * Removes what processes that were killed have left half-written in a folder. Files of other machines and containers stay,
 * and those of processes that still run. Never throws: that something is left over is no reason to fail.
 */
export function removeLeftovers(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const [, host, pid, start] = LEFTOVER.exec(name) ?? [];
      if (host === here() && !isRunning(Number(pid), start!)) rmSync(join(folder, name), { force: true });
    }
  } catch {
    // The folder cannot be listed, or is not ours to change.
  }
}

let place: string | undefined;

/** This machine and its space of process numbers: containers have their own. */
function here(): string {
  if (place !== undefined) return place;
  const parts = [
    hostname(),
    attempt(() => readFileSync('/etc/machine-id', 'utf8')),
    attempt(() => readlinkSync('/proc/self/ns/pid')),
  ];
  place = createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 8);
  return place;
}

/** Whether the process that wrote a name is there yet; one of the same number that began at another time is another. */
function isRunning(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Of another user's process the system says that it is there.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
  const now = startOf(pid);
  return now === null || start === '0' || now === start;
}

let own: string | null | undefined;

/** When a process began, in ticks since the machine did, to the base 36; null where the system does not say. */
function startOf(pid: number): string | null {
  if (pid === process.pid && own !== undefined) return own;
  // The name of the program, in parentheses, may hold anything; 20 fields behind it is the start.
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const ticks = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  const found = ticks === undefined ? null : Number(ticks).toString(36);
  if (pid === process.pid) own = found;
  return found;
}

function attempt(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
