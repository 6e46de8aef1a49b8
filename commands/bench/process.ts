import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** What a process took. */
export interface Run {
  seconds: number;
  /** Peak resident set in bytes; null where /proc does not say. */
  peak: number | null;
}

const LOOK_MS = 20;

/**
 * Runs a program with its output thrown away.
 * @returns null where there is no such program.
 * @throws Error where it ends with another code than 0.
 */
export async function measure(command: string, args: readonly string[]): Promise<Run | null> {
  const nowhere = openSync('/dev/null', 'w');
  const start = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', nowhere, 'inherit'] });
  let peak: number | null = null;
  const look = setInterval(() => {
    peak = peakOf(child.pid) ?? peak;
  }, LOOK_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? resolve(-1) : reject(error)));
      child.once('exit', resolve);
    });
    if (code === -1) return null;
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
    return { seconds: (performance.now() - start) / 1000, peak };
  } finally {
    clearInterval(look);
    closeSync(nowhere);
  }
}

/** The high-water mark so far, so that looking now and then misses next to nothing. */
function peakOf(pid: number | undefined): number | null {
  try {
    const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line ? Number(line[1]) * 1024 : null;
  } catch {
    return null;
  }
}
