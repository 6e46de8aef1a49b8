import type { Writable } from 'node:stream';
import { codeOf, fileError } from './errno.ts';
import { recordLine } from './finite.ts';
import type { AnyRecord } from './records.ts';

/** The reader of our output has left (`| head -n 1`): a reason to stop, not an error. Commands end with 0. */
export class ReaderGone extends Error {
  constructor() {
    super('the reader of the output has gone');
    this.name = 'ReaderGone';
  }
}

/** What a failed stream means: its reader has gone, or the system's error in words. */
export function outputError(error: unknown, name: string): unknown {
  const code = codeOf(error);
  if (code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_DESTROYED') return new ReaderGone();
  return fileError(error, 'write', name);
}

export interface RecordWriterOptions {
  /** Ends a wait for a slow reader. */
  signal?: AbortSignal;
  /** Name of the output in messages. Default `stdout`. */
  name?: string;
}

/**
 * The one way for records to leave a command: a JSON line each, in the order of the calls, no faster than the reader
 * takes them. After a failure every call rejects with that failure.
 */
export class RecordWriter {
  /** Records written so far. */
  count = 0;
  readonly #stream: Writable;
  readonly #signal: AbortSignal | undefined;
  readonly #name: string;
  #failure: unknown;
  #pending = 0;
  #waiting: (() => void)[] = [];

  constructor(stream: Writable, options: RecordWriterOptions = {}) {
    this.#stream = stream;
    this.#signal = options.signal;
    this.#name = options.name ?? 'stdout';
    stream.on('error', (error) => this.#fail(error));
    stream.on('close', () => this.#wake());
    stream.on('drain', () => this.#wake());
    this.#signal?.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /**
   * Resolves as soon as the next record may come.
   * @param json The record as `wellFormedJson` makes it, `type` first, where it is at hand.
   * @throws ReaderGone, or DartError: a full disk, NaN or an infinity in the record (the field is named).
   */
  async write(record: AnyRecord, json?: string): Promise<void> {
    this.#check();
    return this.writeLines(`${recordLine(record, json)}\n`, 1);
  }

  /** As `write`, for `count` records that are lines already, each with its newline. */
  async writeLines(lines: string | Uint8Array, count: number): Promise<void> {
    this.#check();
    if (this.#stream.destroyed) throw new ReaderGone();
    this.#pending += 1;
    this.count += count;
    const ready = this.#stream.write(lines, (error) => this.#written(error));
    if (!ready) await this.#until(() => !this.#stream.writableNeedDrain);
    this.#check();
  }

  /** Resolves when everything written has left the process. */
  async flush(): Promise<void> {
    await this.#until(() => this.#pending === 0);
    this.#check();
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #written(error: Error | null | undefined): void {
    this.#pending -= 1;
    if (error) this.#fail(error);
    if (this.#pending === 0) this.#wake();
  }

  #fail(error: unknown): void {
    this.#failure ??= outputError(error, this.#name);
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  async #until(done: () => boolean): Promise<void> {
    while (!done()) {
      this.#check();
      if (this.#stream.destroyed) throw new ReaderGone();
      this.#signal?.throwIfAborted();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
