import { delay } from '../stream/timer.ts';
import type { PolicyWorker, WatchedPolicy } from './worker.ts';

export interface WatchOptions {
  /** How often a worker that serves is looked at. */
  healthIntervalMs: number;
  signal: AbortSignal;
  /** It does not answer: nothing more is to be sent there. */
  onDown: (reason: unknown) => void;
  /** It answers again. Rejects where it cannot serve all the same. */
  revive: () => Promise<void>;
}

/** One answer may be late; two in a row mean something. */
const MISSES = 2;
/** How often it is asked whether the circuit's cool-down is over. */
const TICK_MS = 50;

/** Looks after one worker outside of this process until the signal aborts: is it up, and how much has it to do. */
export async function watchWorker(worker: PolicyWorker, policy: WatchedPolicy, options: WatchOptions): Promise<void> {
  const { healthIntervalMs, signal } = options;
  let misses = 0;
  while (!signal.aborted) {
    await delay(worker.state === 'out' ? Math.min(TICK_MS, healthIntervalMs) : healthIntervalMs, signal).catch(
      () => {},
    );
    if (signal.aborted) return;
    if (worker.state === 'out') {
      misses = 0;
      if (worker.circuit!.due) await tryToRevive(worker, policy, options);
    } else if (worker.state !== 'loading') {
      misses = (await looksWell(worker, policy, options)) ? 0 : misses + 1;
      if (misses === MISSES) options.onDown(new Error('it does not answer the health check'));
    }
  }
}

async function tryToRevive(
  worker: PolicyWorker,
  policy: WatchedPolicy,
  { signal, revive }: WatchOptions,
): Promise<void> {
  try {
    await policy.check(signal);
    await revive();
  } catch {
    worker.circuit!.failed();
  }
}

async function looksWell(worker: PolicyWorker, policy: WatchedPolicy, { signal }: WatchOptions): Promise<boolean> {
  try {
    await policy.check(signal);
    // What we have in flight is counted by us, at once; the rest of what the server says is of others.
    const [before, queued] = [worker.inFlight, await policy.queued(signal)];
    worker.foreign = queued === null ? 0 : Math.max(0, queued - Math.max(before, worker.inFlight));
    return true;
  } catch {
    return false;
  }
}
