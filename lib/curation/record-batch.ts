import type { AnyRecord } from '../stream/records.ts';
import type { RecordWriter } from '../stream/writer.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { appendSample } from './sample-line.ts';

/** Bytes of samples that are written in one go. */
const CHUNK = 1 << 18;

/**
 * Writes records in the order of the calls; samples whose bytes are at hand are put together into larger writes.
 * Whoever calls says with `flush` when the reader should have all of them.
 */
export class RecordBatch {
  readonly #writer: RecordWriter;
  readonly #lines = new ByteBuffer(CHUNK);
  #count = 0;

  constructor(writer: RecordWriter) {
    this.#writer = writer;
  }

  async write(record: AnyRecord): Promise<void> {
    if (!appendSample(record, this.#lines)) {
      await this.flush();
      return this.#writer.write(record);
    }
    this.#count += 1;
    if (this.#lines.length >= CHUNK) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#count === 0) return;
    const count = this.#count;
    this.#count = 0;
    await this.#writer.writeLines(this.#lines.take(), count);
  }
}
