import type { Staleness } from './staleness.ts';

export interface VirtualTrainerOptions {
  /** Groups of an update. */
  groups: number;
  /** How long the update takes that makes this version. */
  update: (version: number) => number;
  setMoment: (at: number) => void;
  onPublished: (version: number, now: number) => void;
  staleness: Staleness;
}

/**
 * The trainer as its latency: whenever enough groups are there it learns from the newest of them. Older ones, which
 * came while it was busy, are passed over.
 */
export class VirtualTrainer {
  readonly #options: VirtualTrainerOptions;
  /** Of each group that waits: the oldest version behind its tokens. */
  #groups: number[] = [];
  #version = 0;
  #loaded = 0;
  #updating = false;
  #wake: (() => void) | null = null;
  learned = 0;

  constructor(options: VirtualTrainerOptions) {
    this.#options = options;
  }

  take(oldest: number, now: number): void {
    this.#groups.push(oldest);
    if (!this.#updating) this.#begin(now);
  }

  /** The update is done. */
  due(now: number): void {
    this.#updating = false;
    this.#options.setMoment(Number.POSITIVE_INFINITY);
    this.#version += 1;
    this.#options.onPublished(this.#version, now);
    this.#begin(now);
  }

  loaded(version: number): void {
    this.#loaded = version;
    if (this.#loaded < this.#version || this.#updating) return;
    this.#wake?.();
    this.#wake = null;
  }

  /** Calls back once the version learned from all that was taken is loaded: now, or in the turn of that event. */
  whenLoaded(callback: () => void): void {
    if (!this.#updating && this.#loaded === this.#version) callback();
    else this.#wake = callback;
  }

  #begin(now: number): void {
    const { groups, update, setMoment, staleness } = this.#options;
    if (this.#groups.length < groups) return;
    for (const oldest of this.#groups.slice(-groups)) staleness.add(this.#version - oldest);
    this.#groups = [];
    this.learned += groups;
    this.#updating = true;
    setMoment(now + update(this.#version + 1));
  }
}
