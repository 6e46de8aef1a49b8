import { readFileSync } from 'node:fs';
import { bootId, pidNamespace } from '../../stream/this_kernel.ts';

/** `BOOT/NAMESPACE/PID/START`: one process, also where its number is used again, of one boot of one machine. */
export function thisOwner(): string {
  return [bootId(), pidNamespace(), process.pid, startOf(process.pid) ?? ''].join('/');
}

/**
 * Whether the process is gone. Of other machines and of other containers nothing can be known: false.
 * @param running Whether what it owns runs: nothing that runs is older than the boot.
 */
export function isGone(owner: string, running: boolean): boolean {
  const [boot, namespace, pid = '', start] = owner.split('/');
  if (!/^\d+$/.test(pid)) return false;
  if (boot !== bootId()) return !running;
  if (namespace !== pidNamespace()) return false;
  return startOf(Number(pid)) !== start;
}

/** When a process was started, in ticks since the boot; null where there is none. A zombie is no process any more. */
function startOf(pid: number): string | null {
  try {
    // The name may hold spaces and parentheses: what follows the last one is counted (proc(5), fields 3 and 22).
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19]!;
  } catch {
    return null;
  }
}
