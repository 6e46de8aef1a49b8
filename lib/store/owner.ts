import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** A name for this process as the holder of leases: `host/pid/nonce`. */
export function newOwner(): string {
  return `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
}

/**
 * True when `owner` was a process of this machine that is no more: its leases need not be waited for. Of other
 * machines nothing is known; there leases have to expire.
 */
export function isDead(owner: string): boolean {
  const [host, pid] = owner.split('/');
  if (host !== hostname() || !pid || !/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
