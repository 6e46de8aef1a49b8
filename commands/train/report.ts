import { logOf } from '../../lib/cli/log.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { DartError } from '../../lib/errors.ts';
import { fourDigits } from '../../lib/report/digits.ts';
import { counted } from '../../lib/stream/counted.ts';
import type { AnyRecord, Summary } from '../../lib/stream/records.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import type { SessionOutput } from '../../lib/training/session_options.ts';
import type { RunOutput } from './output.ts';
import type { StopSwitch } from './stop.ts';
import type { TensorBoard } from './tensorboard.ts';

/**
 * Records out, lines to people. A reader that leaves stops the run, but what was learned is still published: after a stop
 * records that cannot be delivered are let go.
 */
export class Report implements SessionOutput {
  readonly #context: CommandContext;
  readonly #output: RunOutput;
  readonly #stop: StopSwitch;
  readonly #progress: Progress;
  readonly #tensorboard: TensorBoard | null;
  /** Last value of each metric, for `--table`. */
  readonly #metrics = new Map<string, string>();

  constructor(context: CommandContext, output: RunOutput, stop: StopSwitch, tensorboard: TensorBoard | null = null) {
    this.#context = context;
    this.#output = output;
    this.#stop = stop;
    this.#tensorboard = tensorboard;
    this.#progress = new Progress(context, 'training');
  }

  async record(record: AnyRecord): Promise<void> {
    if (record.type === 'metric' && typeof record.name === 'string')
      this.#metrics.set(record.name, shown(record.value));
    await this.#tensorboard?.add(record);
    try {
      await this.#output.write(record);
    } catch (error) {
      if (error instanceof ReaderGone) this.#stop.stop(error);
      else if (!this.#stop.signal.aborted) throw error;
    }
  }

  progress(line: string): void {
    this.#progress.update(line);
  }

  /** How far the engine is within an update. */
  detail(line: string): void {
    this.#progress.detail(line);
  }

  note(line: string): void {
    logOf(this.#context).info(line);
  }

  warn(line: string): void {
    logOf(this.#context).warn(line);
  }

  /** The end of a run: summary, last line, table. Throws where the reader has left or nothing more could be written. */
  async finish(summary: Summary): Promise<void> {
    await this.record(summary);
    this.#progress.done(
      `version ${summary.version} after ${counted(Number(summary.updates), 'update')} (${summary.stopped})`,
    );
    if (this.#context.options.table === true) {
      await printTable(this.#context.io, ['metric of the last update', 'value'], [...this.#metrics]);
    }
    const { signal } = this.#stop;
    await this.#output.close().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.reason instanceof ReaderGone || signal.reason instanceof DartError) throw signal.reason;
  }

  /** The end of a run that an error ended, which is told afterwards; what fails here fails because of it. */
  async fail(summary: Summary): Promise<void> {
    await this.finish(summary).catch(() => {});
  }

  /** The end of a run that never began to learn: standard output hears of it, a file is not made for it. */
  async abandon(summary: Summary): Promise<void> {
    await this.record(summary).catch(() => {});
  }

  /** Takes the spinner away, also after an error. */
  close(): void {
    this.#progress.stop();
  }
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(fourDigits(value)) : '–';
}
