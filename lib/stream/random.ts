/**
 * A well-spread 32-bit hash of a text (FNV-1a over UTF-16 units, then murmur3's finaliser): for seeds and shards,
 * never for content addresses.
 */
export function hash32(text: string, start = 0x811c9dc5): number {
  let hash = start >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Seeded random numbers, the same on every machine: sfc32 (Chris Doty-Humphrey's small fast counting generator, of
 * PractRand), 128 bits of state, whose four words are hashes of the seed. Not for secrets.
 */
export class Random {
  readonly #key: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number | string) {
    this.#key = String(seed);
    this.#a = hash32(this.#key, 0x9e3779b9);
    this.#b = hash32(this.#key, 0x243f6a88);
    this.#c = hash32(this.#key, 0xb7e15162);
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** 0 … 2^32 − 1. */
  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  /** In [0, 1), with 32 random bits. */
  next(): number {
    return this.uint32() / 4294967296;
  }

  /** An integer in [0, n). `n` is a positive integer up to 2^32. */
  int(n: number): number {
    if (!Number.isInteger(n) || n < 1 || n > 4294967296) throw new RangeError(`int(${n}): expected 1 … 2^32`);
    return Math.floor(this.next() * n);
  }

  /** One member of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T;
  }

  /** Puts the list into random order in place (Fisher–Yates) and hands it back. */
  shuffle<T>(list: T[]): T[] {
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [list[i], list[j]] = [list[j] as T, list[i] as T];
    }
    return list;
  }

  /** Standard normal (Box–Muller). */
  gaussian(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** An independent generator, given by this one's seed and the label alone: how much was drawn does not matter. */
  fork(label: string | number): Random {
    return new Random(`${this.#key}/${label}`);
  }
}
