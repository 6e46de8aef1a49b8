import { setTimeout as sleep } from 'node:timers/promises';
import { DartError } from '../errors.ts';

/** What several requests cannot do at once: take pictures, walk the accessibility tree, move the pointer. */
export type Lane = 'screen' | 'tree' | 'input';

/** How long a reset waits for what it has stopped, ms. */
const SETTLE_MS = 5000;

/**
 * Who may use the desktop when. Requests run side by side as under OSWorld's threaded server, but for those of one
 * lane, which come one after another: a long program never keeps a screenshot waiting. A reset stops what runs, and
 * what comes after it waits for it.
 */
export class Lanes {
  private readonly last = new Map<Lane, Promise<unknown>>();
  private readonly running = new Map<AbortController, Promise<unknown>>();
  private resetting: Promise<unknown> = Promise.resolve();

  /** Runs a request's work; its signal is aborted when the client leaves (`left`) or the desktop is reset. */
  async run<T>(left: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.whenReset();
    left.throwIfAborted();
    const stop = new AbortController();
    const onLeft = () => stop.abort(left.reason);
    left.addEventListener('abort', onLeft, { once: true });
    const done = work(stop.signal);
    this.running.set(
      stop,
      done.catch(() => {}),
    );
    try {
      return await done;
    } finally {
      this.running.delete(stop);
      left.removeEventListener('abort', onLeft);
    }
  }

  /** Does something that shares a lane, after all that came before it there; not at all once the signal is aborted. */
  inLane<T>(lane: Lane, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const turn = (this.last.get(lane) ?? Promise.resolve()).then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.last.set(
      lane,
      turn.catch(() => {}),
    );
    return turn;
  }

  /** Stops what runs, and resets. */
  reset(where: string, work: () => Promise<void>): Promise<void> {
    const turn = this.resetting.then(async () => {
      const reason = new DartError('the desktop was reset meanwhile', { where });
      for (const stop of this.running.keys()) stop.abort(reason);
      const patience = new AbortController();
      const { signal } = patience;
      const settled = Promise.all(this.running.values()).then(() => patience.abort());
      await Promise.race([settled, sleep(SETTLE_MS, undefined, { signal }).catch(() => {})]);
      await work();
    });
    this.resetting = turn.catch(() => {});
    return turn;
  }

  private async whenReset(): Promise<void> {
    for (let seen: unknown; seen !== this.resetting; ) {
      seen = this.resetting;
      await seen;
    }
  }
}
