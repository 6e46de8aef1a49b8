import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { messageOf } from '../../lib/errors.ts';
import type { EventFile, LoggedPoint } from '../../lib/report/tensorboard.ts';
import { trainingMetric } from '../../lib/report/training_metric.ts';
import { makeFolder } from '../../lib/stream/files.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { textOf } from './settings.ts';

/** Writes metric records into `--tensorboard DIR`. A disk that fails ends the writing and not the run. */
export class TensorBoard {
  readonly #context: CommandContext;
  readonly #dir: string;
  #file: EventFile | null = null;
  /** Evaluations that the folder has; after a restart they come again. */
  #evaluated: LoggedPoint[] | null = null;
  #failed = false;
  /** True from the first update of this run on, which says where its updates begin. */
  #begun = false;

  private constructor(context: CommandContext, dir: string) {
    this.#context = context;
    this.#dir = dir;
  }

  /** Null where nobody asked for it. @throws DartError for a folder that cannot be made. */
  static async open(context: CommandContext): Promise<TensorBoard | null> {
    const dir = textOf(context.options, 'tensorboard');
    if (dir === null) return null;
    await makeFolder(resolvePath(context.io, dir));
    return new TensorBoard(context, resolvePath(context.io, dir));
  }

  /** One scalar for a number of an update that is known; nothing for any other record. */
  async add(record: AnyRecord): Promise<void> {
    const told = trainingMetric(record);
    if (this.#failed || told === null || told.value === null) return;
    const { name, update, value } = told;
    try {
      if (record.type !== 'metric' && (await this.#has(name, { step: update, value: Math.fround(value) }))) return;
      const { EventFile } = await import('../../lib/report/tensorboard.ts');
      this.#file ??= await EventFile.open(this.#dir);
      // An evaluation may be of an older version: it takes back nothing of what was logged of later ones.
      if (!this.#begun && record.type === 'metric') {
        this.#begun = true;
        await this.#file.begin(update);
        this.#evaluated = this.#evaluated?.filter(({ step }) => step < update) ?? null;
      }
      await this.#file.scalar(name, update, value);
    } catch (error) {
      this.#failed = true;
      logOf(this.#context).warn(`--tensorboard: nothing more is written: ${messageOf(error)}`);
    }
  }

  /** Whether the folder has this point; from now on it has. */
  async #has(tag: string, { step, value }: LoggedPoint): Promise<boolean> {
    const { loggedPoints } = await import('../../lib/report/tensorboard.ts');
    this.#evaluated ??= await loggedPoints(this.#dir, tag);
    if (this.#evaluated.some((point) => point.step === step && point.value === value)) return true;
    this.#evaluated.push({ step, value });
    return false;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
