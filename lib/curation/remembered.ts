/** A set that forgets its oldest entries, so that a process that runs for weeks stays small. */
export class Remembered {
  readonly #entries = new Set<string>();
  readonly #limit: number;

  constructor(limit = 200_000) {
    this.#limit = limit;
  }

  add(entry: string): void {
    this.#entries.add(entry);
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#entries.values().next().value!);
  }

  has(entry: string): boolean {
    return this.#entries.has(entry);
  }

  /** The entries that came last, oldest first. */
  newest(count: number): string[] {
    return [...this.#entries].slice(-count);
  }

  delete(entry: string): boolean {
    return this.#entries.delete(entry);
  }
}
