import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isAlive, type Owner } from '../../guest/x11/owner.ts';
import { temporaryName } from '../../stream/temporary.ts';

/** What is noted of a desktop for other commands, in its folder: `desktop.json` beside its `log`. */
export interface DesktopNote {
  id: string;
  run: string;
  /** Who has started it. */
  owner: Owner;
  detached: boolean;
  /** ISO 8601 UTC. */
  created_at: string;
  /** Its guest server; null while that is being started. */
  server: Owner | null;
  server_url: string | null;
}

const NOTE = 'desktop.json';

/** `$XDG_STATE_HOME/dart/desktops`: a folder for each desktop that was started on this machine by this user. */
export function desktopsFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const state = env.XDG_STATE_HOME;
  // Relative XDG paths are invalid.
  const base = state && isAbsolute(state) ? state : join(env.HOME || homedir(), '.local', 'state');
  return join(base, 'dart', 'desktops');
}

/** Of one desktop. */
export function folderOf(id: string): string {
  return join(desktopsFolder(), id);
}

/** What its server has to say. */
export function logOf(id: string): string {
  return join(folderOf(id), 'log');
}

/** Whole or not at all: others may read at any moment. */
export function writeNote(note: DesktopNote): void {
  const path = join(folderOf(note.id), NOTE);
  mkdirSync(folderOf(note.id), { recursive: true, mode: 0o700 });
  const temporary = temporaryName(path);
  writeFileSync(temporary, `${JSON.stringify(note)}\n`);
  renameSync(temporary, path);
}

/** Removes all of it. */
export function removeNote(id: string): void {
  rmSync(folderOf(id), { recursive: true, force: true });
}

/** All desktops that are noted, by their ids. */
export function readNotes(): DesktopNote[] {
  const folder = desktopsFolder();
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((id) => readNote(join(folder, id)) ?? []);
}

/** Nobody is there for it any more. */
export function isOrphan({ detached, owner }: DesktopNote): boolean {
  return !detached && !isAlive(owner);
}

function readNote(folder: string): DesktopNote | null {
  try {
    return JSON.parse(readFileSync(join(folder, NOTE), 'utf8')) as DesktopNote;
  } catch {
    // It is being made or removed, or is nothing of ours.
    return null;
  }
}
