import { delay } from '../stream/timer.ts';
import type { Place } from './place.ts';
import { Turns } from './turns.ts';

/** The desktop of a dead host may never close; its place is taken again after this. */
const CLOSE_MS = 30_000;

/** Starts and closes the desktops of places, so many starts at once, and knows what of it is under way. */
export class Boots {
  readonly #turns: Turns;
  readonly #retryMs: number;
  readonly #signal: AbortSignal;
  readonly #works = new Set<Promise<unknown>>();

  /**
   * @param retryMs Pause before a start that follows one that failed, times how many have failed in a row.
   * @param signal Ends starts and pauses.
   */
  constructor(most: number, retryMs: number, signal: AbortSignal) {
    this.#turns = new Turns(most);
    this.#retryMs = retryMs;
    this.#signal = signal;
  }

  /** Puts a desktop into a place when it is its turn. Rejects with what it failed with. */
  async start(place: Place): Promise<void> {
    const signal = this.#signal;
    try {
      if (place.failedStarts > 0) await delay(place.failedStarts * this.#retryMs, signal);
      await this.#turns.run(async () => {
        signal.throwIfAborted();
        await place.start(signal);
      });
    } catch (error) {
      place.failedStarts += 1;
      throw error;
    }
  }

  /** Takes the desktop out of a place and closes it; never rejects, and never takes for ever. */
  async close(place: Place): Promise<void> {
    // A desktop that failed may also fail to close; it is out of the pool either way.
    const closed = place
      .vacate()
      ?.close()
      .catch(() => {});
    const late = new AbortController();
    await Promise.race([closed, delay(CLOSE_MS, late.signal).catch(() => {})]);
    late.abort();
  }

  /** Remembers work until it is done. */
  track(work: Promise<unknown>): void {
    this.#works.add(work);
    void work.finally(() => this.#works.delete(work));
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#works);
  }
}
