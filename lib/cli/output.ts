import { WholeFile } from '../stream/files.ts';
import type { AnyRecord } from '../stream/records.ts';
import { RecordWriter } from '../stream/writer.ts';
import { resolvePath } from './input.ts';
import type { CommandContext, Io } from './spec.ts';

/** Outputs that are still open, by the command that opened them. */
const open = new WeakMap<Io, Set<Output>>();

/** Where a command's records go: standard output, or a file that appears when it is whole. */
export class Output {
  readonly writer: RecordWriter;
  readonly #io: Io;
  readonly #file: WholeFile | null;

  constructor(io: Io, file: WholeFile | null) {
    this.#io = io;
    this.#file = file;
    // A file is finished also after a stop: a disk always takes what it is given.
    this.writer = file
      ? new RecordWriter(file.stream, { name: file.path })
      : new RecordWriter(io.stdout, { signal: io.signal });
    const others = open.get(io) ?? new Set();
    open.set(io, others.add(this));
  }

  /** The file; null for standard output. */
  get path(): string | null {
    return this.#file?.path ?? null;
  }

  /** See RecordWriter.write. */
  write(record: AnyRecord, json?: string): Promise<void> {
    return this.writer.write(record, json);
  }

  /** Everything is written: the file is put in its place. */
  async close(): Promise<void> {
    open.get(this.#io)?.delete(this);
    try {
      await this.writer.flush();
    } catch (error) {
      await this.#file?.discard();
      throw error;
    }
    await this.#file?.commit();
  }

  /** Nothing of it is to stay. What went to standard output has gone. */
  async discard(): Promise<void> {
    open.get(this.#io)?.delete(this);
    await this.#file?.discard();
  }
}

/**
 * The output that `-o FILE` (or the option named by `option`) asks for; `-` or nothing is standard output. A command that
 * returns without closing it has it closed, one that throws or is stopped has it discarded. With --dry-run no file is made:
 * what is said goes to standard output.
 */
export async function openOutput(context: CommandContext, option = 'output'): Promise<Output> {
  const path = context.options[option];
  const dry = context.options['dry-run'] === true;
  if (typeof path !== 'string' || path === '-' || dry) return new Output(context.io, null);
  return new Output(context.io, await WholeFile.open(resolvePath(context.io, path)));
}

/** Closes (or discards) what a command left open. */
export async function settleOutputs(io: Io, whole: boolean): Promise<void> {
  for (const output of open.get(io) ?? []) {
    if (whole && !io.signal.aborted) await output.close();
    else await output.discard();
  }
}
