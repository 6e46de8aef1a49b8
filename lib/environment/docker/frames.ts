/** One piece of what a container's program has written. */
export interface LogPiece {
  stream: 'stdout' | 'stderr';
  text: string;
}

const HEADER_BYTES = 8;

/**
 * Docker's framing of two streams in one: a byte that says which, three zeros, four bytes of length, and the text. Characters
 * that two frames share are put together.
 */
export class FrameReader {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #rest: Buffer = Buffer.alloc(0);

  /** The pieces that are whole with these bytes. */
  read(bytes: Uint8Array): LogPiece[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const pieces: LogPiece[] = [];
    while (this.#rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#rest.readUInt32BE(4);
      if (this.#rest.length < end) break;
      const stream = this.#rest[0] === 2 ? 'stderr' : 'stdout';
      const text = this.#decoders[stream].decode(this.#rest.subarray(HEADER_BYTES, end), { stream: true });
      if (text !== '') pieces.push({ stream, text });
      this.#rest = this.#rest.subarray(end);
    }
    return pieces;
  }
}

/** Everything that both streams hold, in the order in which it was written. */
export function textOf(bytes: Uint8Array): string {
  return new FrameReader()
    .read(bytes)
    .map(({ text }) => text)
    .join('');
}
