/** How many versions behind: a histogram. */
export class Staleness {
  readonly #counts: number[] = [];
  #total = 0;

  add(versions: number): void {
    this.#counts[versions] = (this.#counts[versions] ?? 0) + 1;
    this.#total += 1;
  }

  /** Share of each number of versions, from 0; empty where nothing was learned. */
  get shares(): number[] {
    return Array.from(this.#counts, (count = 0) => count / this.#total);
  }

  get mean(): number | null {
    if (this.#total === 0) return null;
    return this.#counts.reduce((sum, count, versions) => sum + versions * count, 0) / this.#total;
  }

  get max(): number | null {
    return this.#total === 0 ? null : this.#counts.length - 1;
  }
}
