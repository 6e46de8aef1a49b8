import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DartError } from '../../errors.ts';
import type { Programs } from './programs.ts';

/** How long a part of the session may take to say that it is ready, ms; machines can be busy. */
export const READY_MS = 60_000;
/** A descriptor on which a program says that it is ready, and with what. */
const READY_FD = 3;

/** A program that the session needs as long as it lasts. */
export interface Core {
  name: string;
  child: ChildProcess;
  /** Where its messages go. */
  log: string;
}

/** Starts it; `onExit` hears when it ends. */
export function startCore(
  programs: Programs,
  name: string,
  argv: readonly string[],
  folder: string,
  onExit: (core: Core) => void,
): Core {
  const log = join(folder, `${name}.log`);
  const descriptor = openSync(log, 'a', 0o600);
  try {
    const child = programs.spawn(argv, { stdio: ['ignore', descriptor, descriptor, 'pipe'] });
    const core = { name, child, log };
    child.once('exit', () => onExit(core));
    child.once('error', () => onExit(core));
    return core;
  } finally {
    closeSync(descriptor);
  }
}

/** The first line that it writes on descriptor 3. Rejects with the end of its log where it ends before. */
export function readyLine({ name, child, log }: Core, where: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      clearTimeout(timer);
      reject(new DartError(`${name} ${what}: ${tailOf(log)}`, { where }));
    };
    const timer = setTimeout(() => fail(`is not ready after ${READY_MS / 1000} s`), READY_MS);
    child.once('exit', () => fail('does not start'));
    child.once('error', () => fail('does not start'));
    let line = '';
    child.stdio[READY_FD]!.on('data', (data: Buffer) => {
      line += data.toString();
      if (!line.includes('\n')) return;
      clearTimeout(timer);
      resolve(line.slice(0, line.indexOf('\n')));
    });
  });
}

function tailOf(log: string): string {
  try {
    return readFileSync(log, 'utf8').trim().split('\n').slice(-3).join(' | ') || 'it says nothing';
  } catch {
    return 'it says nothing';
  }
}
