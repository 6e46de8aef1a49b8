/** How many records may wait for a slow reader or store before desktops are held up. */
const MAX_WAITING = 64;
/**
 * Between the beginnings of two deliveries, unless many wait: a transaction costs far more than one more record in it.
 * A process that is killed loses what ended in this time, along with all that was under way.
 */
const PAUSE_MS = 500;

/**
 * Takes records one by one from many producers and delivers them in order, as many at a time as have come: one
 * transaction for all of them. The first goes at once, further ones gather for a moment. Producers are held up only when
 * too many wait.
 */
export class Outlet<T> {
  readonly #deliver: (batch: T[]) => Promise<void>;
  readonly #rescue: (rest: T[]) => Promise<void>;
  #waiting: T[] = [];
  #delivering: Promise<void> | null = null;
  /** When the last delivery began, by performance.now(). */
  #began = Number.NEGATIVE_INFINITY;
  /** Ends the pause before the next one. */
  #hurry: () => void = () => {};
  #flushing = 0;
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
    this.#hurry();
    await this.#delivering;
    this.#check();
  }

  /** Resolves when everything is delivered. */
  async flush(): Promise<void> {
    this.#flushing += 1;
    this.#hurry();
    try {
      while (this.#delivering) await this.#delivering;
    } finally {
      this.#flushing -= 1;
    }
    this.#check();
  }

  async #run(): Promise<void> {
    try {
      // What comes in the same turn goes into the same batch.
      await Promise.resolve();
      while (this.#waiting.length > 0) {
        await this.#pause();
        this.#began = performance.now();
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

  async #pause(): Promise<void> {
    const ms = this.#began + PAUSE_MS - performance.now();
    if (ms <= 0 || this.#flushing > 0 || this.#waiting.length >= MAX_WAITING) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
