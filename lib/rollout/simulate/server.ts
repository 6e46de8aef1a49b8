/** Slowdown of each request by the number that its worker has in flight: `[[1, 1], [16, 1.5]]`. */
export type Slowdown = readonly (readonly [requests: number, factor: number])[];

/**
 * The factor for each number in flight, from a table of some of them: linear between two entries, and beyond the last
 * one on along the last line.
 */
export function slowdownOf(table: Slowdown): (requests: number) => number {
  const factors: number[] = [];
  return (requests) => (factors[requests] ??= interpolate(table, requests));
}

function interpolate(table: Slowdown, x: number): number {
  const first = table[0]!;
  if (table.length === 1 || x <= first[0]) return first[1];
  const found = table.findIndex(([requests]) => requests >= x);
  const right = found < 0 ? table.length - 1 : found;
  const [x0, y0] = table[right - 1]!;
  const [x1, y1] = table[right]!;
  return y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}

/**
 * An inference server with continuous batching, as a clock and a heap: all requests in flight advance together, each
 * slowed down by how many they are, so that what one has been given since it came is the same as what any other has.
 * A request is done when that has grown by its work (its time alone on the server). Times are in any unit.
 */
export class BatchServer {
  readonly #slowdown: (requests: number) => number;
  /** Work done on each request that has been here all along, and when that was so. */
  #done = 0;
  #at = 0;
  /** A binary heap by `due`, the value of `#done` at which a request is finished. */
  readonly #due: number[] = [];
  readonly #ids: number[] = [];

  constructor(slowdown: (requests: number) => number) {
    this.#slowdown = slowdown;
  }

  get inFlight(): number {
    return this.#due.length;
  }

  /** Request `id` comes in with so much work. */
  admit(now: number, work: number, id: number): void {
    this.#advance(now);
    this.#rise(this.#due.length, this.#done + work, id);
  }

  /** When the next request is finished if nothing comes before; Infinity when there is none. */
  get nextAt(): number {
    const requests = this.#due.length;
    if (requests === 0) return Number.POSITIVE_INFINITY;
    return this.#at + Math.max(0, this.#due[0]! - this.#done) * this.#slowdown(requests);
  }

  /** Takes the request out that is finished at `now`, which is not before `nextAt`. */
  finish(now: number): number {
    this.#advance(now);
    return this.#remove(0);
  }

  /** Takes request `id` out unfinished. */
  abandon(now: number, id: number): void {
    this.#advance(now);
    const place = this.#ids.indexOf(id);
    if (place >= 0) this.#remove(place);
  }

  #advance(now: number): void {
    const requests = this.#due.length;
    if (requests > 0) this.#done += (now - this.#at) / this.#slowdown(requests);
    this.#at = now;
  }

  #remove(place: number): number {
    const id = this.#ids[place]!;
    const due = this.#due.pop()!;
    const last = this.#ids.pop()!;
    if (place === this.#due.length) return id;
    // The last one takes the place; it may belong further up or further down.
    if (place > 0 && due < this.#due[(place - 1) >> 1]!) this.#rise(place, due, last);
    else this.#sink(place, due, last);
    return id;
  }

  #rise(from: number, due: number, id: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#due[parent]! <= due) break;
      this.#due[place] = this.#due[parent]!;
      this.#ids[place] = this.#ids[parent]!;
      place = parent;
    }
    this.#due[place] = due;
    this.#ids[place] = id;
  }

  #sink(from: number, due: number, id: number): void {
    const size = this.#due.length;
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#due[child + 1]! < this.#due[child]!) child += 1;
      if (this.#due[child]! >= due) break;
      this.#due[place] = this.#due[child]!;
      this.#ids[place] = this.#ids[child]!;
      place = child;
    }
    this.#due[place] = due;
    this.#ids[place] = id;
  }
}
