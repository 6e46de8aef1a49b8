/** Children of a node: wider than a binary heap, and so half as deep; they lie side by side in memory. */
const WIDTH = 4;

/**
 * What happens next: each of `size` actors has at most one moment set. An indexed heap, so that a moment can be moved.
 * Equal moments come in the order of the heap, which is the same in each run.
 */
export class Agenda {
  /** The heap: moments, and whose they are. */
  readonly #at: Float64Array;
  readonly #actor: Int32Array;
  /** Where each actor's moment is in the heap; −1: nowhere. */
  readonly #place: Int32Array;
  #size = 0;

  constructor(actors: number) {
    this.#at = new Float64Array(actors);
    this.#actor = new Int32Array(actors);
    this.#place = new Int32Array(actors).fill(-1);
  }

  /** The earliest moment; Infinity when nothing is set. */
  get next(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#at[0]!;
  }

  /** The actor of the earliest moment; −1 when nothing is set. */
  get first(): number {
    return this.#size === 0 ? -1 : this.#actor[0]!;
  }

  /** The same, and its moment is no longer set. There is one. */
  take(): number {
    const actor = this.#actor[0]!;
    this.#drop(0);
    return actor;
  }

  /** Sets or moves the moment of an actor; Infinity: none. */
  set(actor: number, at: number): void {
    const place = this.#place[actor]!;
    if (at === Number.POSITIVE_INFINITY) {
      if (place >= 0) this.#drop(place);
    } else if (place < 0) this.#rise(this.#size++, actor, at);
    else if (at < this.#at[place]!) this.#rise(place, actor, at);
    else this.#sink(place, actor, at);
  }

  #drop(place: number): void {
    this.#place[this.#actor[place]!] = -1;
    const last = --this.#size;
    if (place === last) return;
    const at = this.#at[last]!;
    const actor = this.#actor[last]!;
    if (place > 0 && at < this.#at[Math.floor((place - 1) / WIDTH)]!) this.#rise(place, actor, at);
    else this.#sink(place, actor, at);
  }

  #rise(from: number, actor: number, at: number): void {
    const times = this.#at;
    let place = from;
    while (place > 0) {
      const parent = ((place - 1) / WIDTH) | 0;
      if (times[parent]! <= at) break;
      this.#move(parent, place);
      place = parent;
    }
    this.#put(place, actor, at);
  }

  #sink(from: number, actor: number, at: number): void {
    const times = this.#at;
    const size = this.#size;
    let place = from;
    for (;;) {
      const begin = WIDTH * place + 1;
      if (begin >= size) break;
      const end = Math.min(begin + WIDTH, size);
      let least = begin;
      for (let child = begin + 1; child < end; child++) if (times[child]! < times[least]!) least = child;
      if (times[least]! >= at) break;
      this.#move(least, place);
      place = least;
    }
    this.#put(place, actor, at);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#actor[from]!, this.#at[from]!);
  }

  #put(place: number, actor: number, at: number): void {
    this.#at[place] = at;
    this.#actor[place] = actor;
    this.#place[actor] = place;
  }
}
