import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DartError, messageOf } from '../../errors.ts';
import type { ExecuteResult } from '../../guest/guest.ts';
import { HttpGuest } from '../../guest/http_client.ts';
import { isAlive, removeLeftDesktops } from '../../guest/x11/owner.ts';
import { type Fleet, type FleetMember, noProgram } from '../kind.ts';
import { type DesktopNote, isOrphan, logOf, readNotes, removeNote } from './note.ts';

/** How long a server may take to end its desktop, ms. */
const END_MS = 20_000;
const LOOK_MS = 100;

/** The desktops under Xvfb that this user has on this machine. */
export async function openXvfbFleet(): Promise<Fleet> {
  return {
    list: async () => readNotes().map(memberOf),
    remove: async ({ id }) => {
      const note = noteOf(id);
      if (note) await removeDesktop(note);
    },
    logs: ({ id }, options) => logsOf(id, options),
    exec: async ({ id }, command) => execIn(id, command),
    close: async () => {},
  };
}

/** Removes desktops that nobody is there for any more: those of commands that were killed. */
export async function removeOrphans(): Promise<void> {
  for (const note of readNotes().filter(isOrphan)) await removeDesktop(note);
}

function memberOf(note: DesktopNote): FleetMember {
  const { id, run, server, server_url, created_at, detached } = note;
  const lives = server === null ? isAlive(note.owner) : isAlive(server);
  const state = !lives ? 'exited' : server_url === null ? 'starting' : 'ready';
  return { id, driver: 'xvfb', run, state, server_url, created_at, detached, orphan: isOrphan(note) };
}

function noteOf(id: string): DesktopNote | undefined {
  return readNotes().find((note) => note.id === id);
}

/** Its server ends what belongs to it; what a server that was killed has left is ended here. */
async function removeDesktop({ id, server }: DesktopNote): Promise<void> {
  if (server !== null && isAlive(server)) {
    signalTo(server.pid, 'SIGTERM');
    for (const end = performance.now() + END_MS; isAlive(server) && performance.now() < end; ) await sleep(LOOK_MS);
    if (isAlive(server)) signalTo(server.pid, 'SIGKILL');
  }
  await removeLeftDesktops();
  removeNote(id);
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

async function* logsOf(id: string, options: Parameters<Fleet['logs']>[1]): AsyncGenerator<string> {
  const { follow = false, tail, signal } = options;
  const path = logOf(id);
  if (!existsSync(path)) return;
  let at = statSync(path).size;
  const text = readFileSync(path, 'utf8').slice(0, at);
  const lines = text.split(/(?<=\n)/);
  if (text !== '') yield (tail === undefined ? lines : lines.slice(Math.max(lines.length - tail, 0))).join('');
  while (follow && !signal?.aborted && existsSync(path)) {
    const { size } = statSync(path);
    if (size > at) {
      for await (const piece of createReadStream(path, { start: at, end: size - 1, encoding: 'utf8' })) yield piece;
      at = size;
    } else await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

async function execIn(id: string, command: readonly string[]): Promise<ExecuteResult> {
  const url = noteOf(id)?.server_url;
  if (!url) throw new DartError('there is no such desktop, or it is not ready', { where: id, hint: 'dart-env list' });
  const guest = await HttpGuest.connect(url, { id, tries: 1 });
  try {
    return await guest.execute([...command], { shell: false });
  } catch (error) {
    if (messageOf(error).includes(`there is no program ${command[0]},`)) return noProgram(command);
    throw error;
  }
}
