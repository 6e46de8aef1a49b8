import type { Log } from '../../lib/cli/log.ts';
import { Interrupted, onSkippedCleanUp } from '../../lib/cli/stop.ts';
import { spanOf } from '../../lib/stream/span.ts';

export interface StopTelling {
  /** The command's; aborts when it is told to stop. */
  signal: AbortSignal;
  /** What is under way is given up when this aborts. */
  abort: AbortSignal;
  graceMs: number;
  /** How many there are under way. */
  underWay: () => number;
  /** What these are called: `rollouts`. */
  what: string;
  /** What is not done where the command is ended at once, besides: `FILE is not written`. */
  skipped?: string;
}

/**
 * Says what a signal does, and what a second one would: how long is waited and for how many, how many were given up.
 * @returns ends it, once nothing is left to wait for.
 */
export function tellOfStop(log: Log, { signal, abort, graceMs, underWay, what, skipped }: StopTelling): () => void {
  let forget = () => {};
  const onStop = () => {
    const count = underWay();
    if (!(signal.reason instanceof Interrupted) || count === 0) return;
    const again = signal.reason.message.includes('SIGINT') ? 'Ctrl-C again' : 'another signal';
    if (graceMs > 0 && !abort.aborted) {
      log.warn(`waiting ${spanOf('up to', graceMs)} for ${count} ${what}; ${again} ends at once`);
    }
    const lost = `ended at once: up to ${count} ${what} under way are lost`;
    forget = onSkippedCleanUp(skipped === undefined ? lost : `${lost}, and ${skipped}`);
  };
  const onAbort = () => {
    const count = underWay();
    if (signal.reason instanceof Interrupted && count > 0) log.warn(`${count} ${what} under way given up`);
  };
  signal.addEventListener('abort', onStop, { once: true });
  abort.addEventListener('abort', onAbort, { once: true });
  return () => {
    signal.removeEventListener('abort', onStop);
    abort.removeEventListener('abort', onAbort);
    forget();
  };
}
