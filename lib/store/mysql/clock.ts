/** How long a comparison with the server's clock is good for. */
const FRESH_MS = 60_000;

/**
 * The server's clock, as seen from here: what it said last, and how long ago that was by a clock that nobody sets. So
 * the leases of several machines go by one clock, and a step of a machine's own clock changes none of them.
 */
export class ServerClock {
  #offset: number | null = null;
  #comparedAt = 0;

  /** True where the comparison is missing or old. */
  get isStale(): boolean {
    return this.#offset === null || performance.now() - this.#comparedAt > FRESH_MS;
  }

  /**
   * Compares. The answer is taken as given halfway between question and answer.
   * @param ask the server's time, in milliseconds since 1970.
   */
  async compare(ask: () => Promise<number>): Promise<void> {
    const before = performance.now();
    const server = await ask();
    this.#comparedAt = performance.now();
    this.#offset = server - (before + this.#comparedAt) / 2;
  }

  /** Milliseconds since 1970 by the server. */
  now(): number {
    return this.#offset === null ? Date.now() : Math.round(performance.now() + this.#offset);
  }
}
