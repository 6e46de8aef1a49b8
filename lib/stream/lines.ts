const NEWLINE = 10;

export interface SplitLine {
  /** Counted from 1. */
  line: number;
  /** Without the newline; null for a line that is longer than the limit. */
  bytes: Uint8Array | null;
  /** The limit that it passed, where `bytes` is null. */
  limit: number;
  /** The input ended within this line. */
  unfinished: boolean;
}

/**
 * Cuts chunks of bytes into lines. Parts of an unfinished line are kept in a list and put together once, when its
 * newline comes: the cost is linear in the length of a line, where appending to one buffer is quadratic.
 */
export class LineSplitter {
  readonly #limit: number;
  #parts: Uint8Array[] = [];
  #held = 0;
  #line: number;
  /** The unfinished line is over the limit already: its bytes are dropped as they come. */
  #tooLong = false;

  /** @param firstLine number of the first line. */
  constructor(limit: number, firstLine = 1) {
    this.#limit = limit;
    this.#line = firstLine - 1;
  }

  /** The lines that end in this chunk. */
  *push(chunk: Uint8Array): Generator<SplitLine, void, void> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield this.#take(chunk.subarray(start, end), false);
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** The last line, where the input did not end with a newline. */
  *end(): Generator<SplitLine, void, void> {
    if (this.#held > 0 || this.#tooLong) yield this.#take(new Uint8Array(0), true);
  }

  #hold(part: Uint8Array): void {
    if (this.#tooLong || this.#held + part.length > this.#limit) {
      this.#tooLong = true;
      this.#parts = [];
      return;
    }
    this.#parts.push(part);
    this.#held += part.length;
  }

  #take(last: Uint8Array, unfinished: boolean): SplitLine {
    this.#line += 1;
    const tooLong = this.#tooLong || this.#held + last.length > this.#limit;
    const bytes = tooLong ? null : this.#joined(last);
    this.#parts = [];
    this.#held = 0;
    this.#tooLong = false;
    return { line: this.#line, bytes, limit: this.#limit, unfinished };
  }

  #joined(last: Uint8Array): Uint8Array {
    if (this.#parts.length === 0) return last;
    this.#parts.push(last);
    return Buffer.concat(this.#parts, this.#held + last.length);
  }
}
