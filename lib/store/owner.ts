import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { bootId, pidNamespace } from '../stream/this_kernel.ts';

/** A name for this process as the holder of leases: `host/pid/nonce.kernel`. */
export function newOwner(): string {
  return `${hostname().slice(0, 64)}/${process.pid}/${randomUUID().slice(0, 8)}.${kernel()}`;
}

/**
 * True when `owner` was a process of this machine that is no more: its leases need not be waited for. Of other
 * machines nothing is known, nor of other containers of this one, nor of the time before it was started; there leases
 * have to expire.
 */
export function isDead(owner: string): boolean {
  const [host, pid, nonce = ''] = owner.split('/');
  if (host !== hostname().slice(0, 64) || !pid || !/^\d+$/.test(pid)) return false;
  const place = nonce.split('.')[1];
  if (place !== undefined && place !== kernel()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

let known: string | undefined;

/** Tells apart where the same process number means another process: machines, containers, before and after a boot. */
function kernel(): string {
  known ??= createHash('sha256').update(`${bootId()} ${pidNamespace()}`).digest('hex').slice(0, 8);
  return known;
}
