import type { AnyRecord } from '../stream/records.ts';
import type { RecordWriter } from '../stream/writer.ts';
import { samplePieces } from './sample-line.ts';

/** Bytes of samples that are written in one go. */
const CHUNK = 1 << 18;

/**
 * Writes records in the order of the calls; samples whose bytes are at hand are put together into larger writes.
 * Whoever calls says with `flush` when the reader should have all of them.
 */
export class RecordBatch {
  readonly #writer: RecordWriter;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #count = 0;

  constructor(writer: RecordWriter) {
    this.#writer = writer;
  }

  async write(record: AnyRecord): Promise<void> {
    const pieces = samplePieces(record);
    if (pieces === null) {
      await this.flush();
      return this.#writer.write(record);
    }
    for (const piece of pieces) {
      this.#pieces.push(piece);
      this.#bytes += piece.length;
    }
    this.#count += 1;
    if (this.#bytes >= CHUNK) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#count === 0) return;
    const lines = Buffer.concat(this.#pieces, this.#bytes);
    const count = this.#count;
    this.#pieces = [];
    this.#bytes = 0;
    this.#count = 0;
    await this.#writer.writeLines(lines, count);
  }
}
