import type { Place } from './place.ts';
import { Waiters } from './waiters.ts';

/** Which places have a desktop that nobody has, which are taken, and who waits for one: first come, first served. */
export class FreePlaces {
  readonly #idle: Place[] = [];
  /** Leased, or being looked at for a lease. */
  readonly #taken = new Set<Place>();
  readonly #waiters = new Waiters<Place>();
  readonly #most: number;

  /** @param most How many are taken at once at most. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** @param first Whether the caller had its turn before, in vain. */
  take(first: boolean, signal?: AbortSignal): Promise<Place> {
    const taken = this.#waiters.wait(first, signal);
    this.serve();
    return taken;
  }

  /** The desktop of a place has nobody. */
  offer(place: Place): void {
    this.#idle.push(place);
    this.serve();
  }

  /** Whoever had taken the place has it no more. Nobody is served for that: it may be offered, or the next one be. */
  drop(place: Place): void {
    this.#taken.delete(place);
  }

  /** Nobody gets this place any more; false where it was not idle. */
  withdraw(place: Place): boolean {
    const index = this.#idle.indexOf(place);
    if (index >= 0) this.#idle.splice(index, 1);
    return index >= 0;
  }

  /** Takes out those that were not seen since `time`, by `performance.now()`. */
  withdrawUnseen(time: number): Place[] {
    const due = this.#idle.filter((place) => place.seenMs <= time);
    for (const place of due) this.withdraw(place);
    return due;
  }

  /** Hands idle desktops to those who wait. */
  serve(): void {
    while (this.#waiters.count > 0 && this.#idle.length > 0 && this.#taken.size < this.#most) {
      const place = this.#idle.shift()!;
      this.#taken.add(place);
      this.#waiters.serve(place);
    }
  }

  /** Nobody is going to be served. */
  disappoint(error: unknown): void {
    this.#waiters.disappoint(error);
  }
}
