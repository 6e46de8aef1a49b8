/** One desktop or one worker: how long it was held, and for how much of that it was used. Both only grow. */
export interface PartUsage {
  id: string;
  held_s: number;
  busy_s: number;
}

interface Times {
  heldMs: number;
  busyMs: number;
  held: boolean;
  used: boolean;
  /** Up to when the sums go, ms. */
  since: number;
}

/**
 * Adds up, for each of several things, for how long it is held, and for how much of that it is used: never more. Costs
 * nothing between two changes. The totals of all are the sums of these, so that they never disagree.
 */
export class PartTimes {
  readonly #clock: () => number;
  readonly #parts = new Map<string, Times>();
  #held = 0;
  /** As they were told last. */
  #heldIds: readonly string[] | null = null;
  #used = 0;

  /** @param clock Milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** How many are held now. */
  get held(): number {
    return this.#held;
  }

  /** How many are used now. */
  get used(): number {
    return this.#used;
  }

  /**
   * These are held now, and no others; what is new is held from here on. One that is held no longer is not used either.
   * The same array as before changes nothing.
   */
  hold(ids: readonly string[]): void {
    if (ids === this.#heldIds) return;
    const held = new Set(ids);
    for (const id of held) this.#take(id);
    for (const part of [...this.#parts].flatMap(([id, part]) => (part.held && !held.has(id) ? [part] : []))) {
      this.#advance(part);
      if (part.used) this.#used -= 1;
      Object.assign(part, { held: false, used: false });
      this.#held -= 1;
    }
    this.#heldIds = ids;
  }

  /** It is used from here on, or no longer. What is used is held. Saying the same twice changes nothing. */
  use(id: string, used: boolean): void {
    const part = used ? this.#take(id) : this.#parts.get(id);
    if (!part || part.used === used) return;
    this.#advance(part);
    part.used = used;
    this.#used += used ? 1 : -1;
  }

  /** In the order in which they were first seen; those that are held no longer keep what they had. */
  read(): PartUsage[] {
    return [...this.#parts].map(([id, part]) => {
      this.#advance(part);
      return { id, held_s: part.heldMs / 1000, busy_s: part.busyMs / 1000 };
    });
  }

  #take(id: string): Times {
    const known = this.#parts.get(id);
    if (known?.held) return known;
    const part = known ?? { heldMs: 0, busyMs: 0, held: false, used: false, since: 0 };
    Object.assign(part, { held: true, since: this.#clock() });
    this.#parts.set(id, part);
    this.#held += 1;
    this.#heldIds = null;
    return part;
  }

  #advance(part: Times): void {
    const now = this.#clock();
    if (part.held) part.heldMs += now - part.since;
    if (part.held && part.used) part.busyMs += now - part.since;
    part.since = now;
  }
}

/** Of all parts together. */
export function sumOf(parts: readonly PartUsage[]): Omit<PartUsage, 'id'> {
  const sum = { held_s: 0, busy_s: 0 };
  for (const { held_s, busy_s } of parts) {
    sum.held_s += held_s;
    sum.busy_s += busy_s;
  }
  return sum;
}

/** What share of the time that a part was held between two readings it was used; null where it was not held. */
export function shareUsed(to: PartUsage, from?: PartUsage): number | null {
  const held = to.held_s - (from?.held_s ?? 0);
  return held > 0 ? (to.busy_s - (from?.busy_s ?? 0)) / held : null;
}
