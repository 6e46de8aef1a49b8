import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, imageFolder } from './machine.ts';

/** A process, by more than its number, which another one may have later. */
export interface Owner {
  pid: number;
  /** When it began, in ticks since the machine did. */
  start: string;
  /** Its space of process numbers: containers have their own. */
  space: string;
}

/** Folders of desktops in the system's temporary folder begin so. */
export const FOLDER_PREFIX = 'dart-desktop-';
const OWNER_FILE = 'owner.json';
/** A folder without an owner may be one that is just being made, ms. */
const YOUNG_MS = 60_000;

/** This process, or another one of this machine. */
export function ownerOf(pid = process.pid): Owner {
  return { pid, start: startOf(pid) ?? '', space: readlinkSync('/proc/self/ns/pid') };
}

/** Whether it runs yet. Of another space of process numbers nobody can say: it is taken to. */
export function isAlive(owner: Owner): boolean {
  if (owner.space !== readlinkSync('/proc/self/ns/pid')) return true;
  return startOf(owner.pid) === owner.start;
}

/** Notes whose desktop a folder is of, and what its processes are marked with. */
export function writeOwner(folder: string, id: string, display: string | null = null): void {
  writeFileSync(join(folder, OWNER_FILE), JSON.stringify({ id, display, owner: ownerOf() }));
}

/** Ends every process with the mark `DART_DESKTOP=<id>`, and what these have started. */
export function endProcesses(id: string): Promise<void> {
  const python = findProgram('python3') ?? 'python3';
  const env = { PATH: process.env.PATH, PYTHONPATH: imageFolder('python'), PYTHONDONTWRITEBYTECODE: '1' };
  return new Promise((resolve) => {
    execFile(python, ['-m', 'dart_x11.sweep', `DART_DESKTOP=${id}`], { env }, () => resolve());
  });
}

/** What an X server that was killed leaves: its lock and socket. */
export function removeDisplay(display: string | null): void {
  const number = /^:(\d+)$/.exec(display ?? '')?.[1];
  if (number === undefined) return;
  rmSync(`/tmp/.X${number}-lock`, { force: true });
  rmSync(`/tmp/.X11-unix/X${number}`, { force: true });
}

/** Removes what desktops of servers that were killed have left: processes, displays, folders. */
export async function removeLeftDesktops(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(FOLDER_PREFIX)) await removeIfLeft(join(tmpdir(), name)).catch(() => {});
  }
}

async function removeIfLeft(folder: string): Promise<void> {
  const { uid, mtimeMs } = statSync(folder);
  if (uid !== process.getuid?.()) return;
  const note = readNote(folder);
  if (note === null) {
    if (Date.now() - mtimeMs > YOUNG_MS) rmSync(folder, { recursive: true, force: true });
    return;
  }
  if (isAlive(note.owner)) return;
  await endProcesses(note.id);
  removeDisplay(note.display);
  rmSync(folder, { recursive: true, force: true });
}

function readNote(folder: string): { id: string; display: string | null; owner: Owner } | null {
  try {
    return JSON.parse(readFileSync(join(folder, OWNER_FILE), 'utf8'));
  } catch {
    return null;
  }
}

function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything; 20 fields behind it is the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : fields[19]!;
  } catch {
    return null;
  }
}
