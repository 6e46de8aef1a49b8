/** How many records may wait for a slow reader or store before desktops are held up. */
const MAX_WAITING = 64;

/**
 * Takes records one by one from many producers and delivers them in order, as many at a time as have come: one
 * transaction for all of them. Producers are held up only when too many wait.
 */
export class Outlet<T> {
  readonly #deliver: (batch: T[]) => Promise<void>;
  readonly #rescue: (rest: T[]) => Promise<void>;
  #waiting: T[] = [];
  #delivering: Promise<void> | null = null;
  #failure: { error: unknown } | null = null;

  /** @param rescue takes what was waiting when a delivery failed, and what comes afterwards. */
  constructor(deliver: (batch: T[]) => Promise<void>, rescue: (rest: T[]) => Promise<void> = async () => {}) {
    this.#deliver = deliver;
    this.#rescue = rescue;
  }

  /** Resolves when the producer may go on. Rejects, from then on always, when a delivery failed. */
  async put(record: T): Promise<void> {
    if (this.#failure) await this.#rescue([record]);
    this.#check();
    this.#waiting.push(record);
    this.#delivering ??= this.#run();
    if (this.#waiting.length < MAX_WAITING) return;
    await this.#delivering;
    this.#check();
  }

  /** Resolves when everything is delivered. */
  async flush(): Promise<void> {
    while (this.#delivering) await this.#delivering;
    this.#check();
  }

  async #run(): Promise<void> {
    try {
      // What comes in the same turn goes into the same batch.
      await Promise.resolve();
      while (this.#waiting.length > 0) {
        const batch = this.#waiting;
        this.#waiting = [];
        await this.#deliver(batch);
      }
    } catch (error) {
      this.#failure = { error };
      const rest = this.#waiting;
      this.#waiting = [];
      if (rest.length > 0) await this.#rescue(rest);
    } finally {
      this.#delivering = null;
    }
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
