/**
 * What a policy remembers of each episode between its steps. Episodes can end without the policy being told, so the
 * oldest memories go when there are too many.
 */
export class EpisodeMemory<T> {
  readonly #memories = new Map<string, T>();
  readonly #limit: number;

  constructor(limit = 4096) {
    this.#limit = limit;
  }

  /** The memory of an episode; made anew at its step 0 and where it is unknown. */
  of(episode: string, stepIndex: number, make: () => T): T {
    const known = stepIndex === 0 ? undefined : this.#memories.get(episode);
    const memory = known ?? make();
    this.#memories.delete(episode);
    this.#memories.set(episode, memory);
    if (this.#memories.size > this.#limit) this.#memories.delete(this.#memories.keys().next().value!);
    return memory;
  }
}
