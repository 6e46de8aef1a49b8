/** One desktop or one worker: how long it was held, and for how much of that it was used. Both only grow. */
export interface PartUsage {
  id: string;
  held_s: number;
  busy_s: number;
}

interface Times {
  heldMs: number;
  busyMs: number;
  /** Since when, ms; null where it is not. */
  heldSince: number | null;
  busySince: number | null;
}

/** Adds up, for each of several things that are held, for how long it is used. Costs nothing between two changes. */
export class PartTimes {
  readonly #clock: () => number;
  readonly #parts = new Map<string, Times>();

  /** @param clock Milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** These are held now, and no others; what is new is held from here on. */
  hold(ids: Iterable<string>): void {
    const held = new Set(ids);
    for (const id of held) this.#part(id);
    for (const [id, part] of this.#parts) if (!held.has(id)) this.#release(part);
  }

  /** It is used from here on, or no longer. What is used is held. Saying the same twice changes nothing. */
  use(id: string, used: boolean): void {
    const now = this.#clock();
    if (used) this.#part(id).busySince ??= now;
    else stopUse(this.#parts.get(id), now);
  }

  /** In the order in which they were first seen; those that are held no longer keep what they had. */
  read(): PartUsage[] {
    const now = this.#clock();
    return [...this.#parts].map(([id, { heldMs, busyMs, heldSince, busySince }]) => ({
      id,
      held_s: (heldMs + (heldSince === null ? 0 : now - heldSince)) / 1000,
      busy_s: (busyMs + (busySince === null ? 0 : now - busySince)) / 1000,
    }));
  }

  #part(id: string): Times {
    const part = this.#parts.get(id) ?? { heldMs: 0, busyMs: 0, heldSince: null, busySince: null };
    part.heldSince ??= this.#clock();
    this.#parts.set(id, part);
    return part;
  }

  #release(part: Times): void {
    const now = this.#clock();
    stopUse(part, now);
    if (part.heldSince !== null) part.heldMs += now - part.heldSince;
    part.heldSince = null;
  }
}

function stopUse(part: Times | undefined, now: number): void {
  if (!part || part.busySince === null) return;
  part.busyMs += now - part.busySince;
  part.busySince = null;
}

/** What share of the time that a part was held between two readings it was used; null where it was not held. */
export function shareUsed(to: PartUsage, from?: PartUsage): number | null {
  const held = to.held_s - (from?.held_s ?? 0);
  return held > 0 ? (to.busy_s - (from?.busy_s ?? 0)) / held : null;
}
