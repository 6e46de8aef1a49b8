/** Bytes that are put together piece by piece, in one stretch of memory that grows. */
export class ByteBuffer {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Appends text as UTF-8. */
  text(text: string): void {
    // A UTF-16 unit takes three bytes at most.
    this.#reserve(3 * text.length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Appends the bytes of `source` from `start` up to `end`. */
  copy(source: Uint8Array, start: number, end: number): void {
    if (end <= start) return;
    this.#reserve(end - start);
    const from = source instanceof Buffer ? source : Buffer.from(source.buffer, source.byteOffset, source.byteLength);
    this.#length += from.copy(this.#bytes, this.#length, start, end);
  }

  /** All of it, handed over: the buffer is empty afterwards. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafeSlow(this.#bytes.length);
    this.#length = 0;
    return taken;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
