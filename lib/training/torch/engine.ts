import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { addStatistics, type PolicyStatistics } from '../../../native/index.ts';
import { DartError } from '../../errors.ts';
import { fileError } from '../../stream/errno.ts';
import type { Batch, Engine, StepResult, StepSettings } from '../engine.ts';
import type { Example } from '../examples.ts';
import { TRAIN_METRICS, type TrainMetric, type TrainMetrics } from '../metrics.ts';
import type { Objective } from '../presets.ts';
import type { TrainerState } from '../state.ts';
import { linkModel } from './base.ts';
import { answers, openRequest } from './messages.ts';
import { linesOf, sampleFileOf } from './sample_file.ts';
import type { TorchSettings } from './settings.ts';
import { type AskOptions, Workers, type WorkersLog } from './workers.ts';

export interface TorchPlace {
  /** The checkpoint that the run began with, absolute. */
  checkpoint: string;
  /** Folder of the screenshots. */
  blobs: string;
  /** For requests and logs, where all ranks can read: it is emptied at the start and removed at the end. */
  scratch: string;
  env: Readonly<Record<string, string | undefined>>;
  log: WorkersLog;
  /** Ends the waiting for ranks that are loading. */
  signal: AbortSignal;
  onProgress: (line: string) => void;
}

export interface TorchOptions {
  settings: TorchSettings;
  objective: Objective;
  place: TorchPlace;
}

/** What the ranks say of themselves once the checkpoint is loaded. */
export type TorchOpened = z.infer<typeof answers.open>;

/** Trains a Hugging Face checkpoint in processes of PyTorch (native/torch), which hold the model by parts. */
export class TorchEngine implements Engine {
  readonly opened: TorchOpened;
  readonly #options: TorchOptions;
  #workers: Workers;
  #steps = 0;
  #files = 0;
  /** Ids that the ranks know logo of, under the weights of now. */
  #scored = new Set<string>();
  #moved = false;
  /** True once the ranks' weights are not those of the checkpoint any more. */
  #left = false;

  private constructor(workers: Workers, opened: TorchOpened, options: TorchOptions) {
    this.#workers = workers;
    this.opened = opened;
    this.#options = options;
  }

  /** Starts the ranks and loads the checkpoint. @throws DartError naming what is missing, or the rank that failed. */
  static async open(options: TorchOptions): Promise<TorchEngine> {
    const { scratch } = options.place;
    await rm(scratch, { recursive: true, force: true });
    await mkdir(scratch, { recursive: true });
    try {
      const { workers, opened } = await start(options);
      return new TorchEngine(workers, opened, options);
    } catch (error) {
      await rm(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  get optimizerSteps(): number {
    return this.#steps;
  }

  encodeReply(): 'later' {
    return 'later';
  }

  /** Ids beyond the vocabulary too: the ranks refuse them by the sample's name, since another checkpoint sampled it. */
  isReply(ids: readonly number[]): boolean {
    return ids.every((id) => Number.isInteger(id) && id >= 0);
  }

  async measure(examples: readonly Example[]): Promise<number[]> {
    if (examples.length === 0) return [];
    if (this.#moved) this.#scored.clear();
    this.#moved = false;
    const text = linesOf(examples, this.#options.settings.coordinates);
    const { entropy } = checked('score', await this.#ask('score', text, {}));
    if (entropy.length !== examples.length) throw broken('score', `${entropy.length} entropies`);
    for (const { id } of examples) this.#scored.add(id);
    return entropy;
  }

  async scoreOld(examples: readonly Example[]): Promise<void> {
    await this.measure(this.#moved ? examples : examples.filter(({ id }) => !this.#scored.has(id)));
  }

  async step(batch: Batch, { lr, onPolicy }: StepSettings): Promise<StepResult> {
    const { text, pairs, labels } = sampleFileOf(batch, this.#options.settings.coordinates);
    const more = { lr, on_policy: onPolicy, fresh: onPolicy, kind: batch.kind, pairs, labels };
    const answer = checked('step', await this.#ask('step', text, more));
    this.#moved = true;
    this.#left = true;
    if (answer.applied) this.#steps += 1;
    return {
      applied: answer.applied,
      loss: answer.loss,
      gradNorm: answer.grad_norm,
      statistics: statisticsOf(answer.statistics),
      more: metricsOf(answer),
    };
  }

  async save(folder: string, state: TrainerState): Promise<void> {
    // Nothing was learned: the version is the checkpoint itself, of which no copy is needed.
    if (this.#isBase(state)) return linkModel(this.#options.place.checkpoint, folder);
    const saved = this.#workers.ask({ do: 'save', folder, state: true });
    const answer = await saved.catch(async (error: unknown) => {
      throw await spaceError(error, folder);
    });
    const { files } = checked('save', answer);
    const lost = files.find((name) => !existsSync(join(folder, name)));
    if (lost !== undefined) throw broken('save', `a file that is not there: ${join(folder, lost)}`);
    // safetensors writes files that only their owner can read; a server may run as somebody else.
    for (const name of files) await chmod(join(folder, name), 0o644);
  }

  async restore(folder: string, state: TrainerState): Promise<void> {
    this.#steps = state.optimizer_step;
    this.#scored.clear();
    if (this.#isBase(state)) return this.#startAgain();
    if (!existsSync(join(folder, 'state'))) {
      throw new DartError('the version has no optimiser state any more: it is kept of the newest versions only', {
        where: folder,
        hint: 'a new run from it (another --publish), and a larger --keep-states',
      });
    }
    this.#left = true;
    await this.#workers.ask({ do: 'restore', folder });
  }

  async close(): Promise<void> {
    await this.#workers.close();
    await rm(this.#options.place.scratch, { recursive: true, force: true });
  }

  /** Whether a version is the checkpoint itself. Adapters are saved from the first version on. */
  #isBase(state: TrainerState): boolean {
    return state.updates === 0 && this.#options.settings.model.lora === null;
  }

  /** Back to the checkpoint, by loading it anew. */
  async #startAgain(): Promise<void> {
    if (!this.#left) return;
    await this.#workers.close();
    ({ workers: this.#workers } = await start(this.#options));
    this.#left = false;
  }

  /** A request about examples, which are in a file while it lasts. */
  async #ask(what: 'score' | 'step', text: string, more: object): Promise<unknown> {
    this.#files += 1;
    const { scratch, onProgress: tell } = this.#options.place;
    const file = join(scratch, `${this.#files}.ndjson`);
    await writeFile(file, text);
    const onProgress: AskOptions['onProgress'] = (done, of) => tell(`${what}: ${done} of ${of} micro-batches`);
    try {
      return await this.#workers.ask({ do: what, file, ...more }, { onProgress });
    } finally {
      await rm(file, { force: true });
    }
  }
}

/** Less free space than this is none: parts of files fill the rest. */
const NO_SPACE = 1 << 20;

/**
 * What failed while a version was written, or that the disk is full where it is: the ranks' own words go through a file in
 * the same folder, and are lost then.
 * @param look Free space of a folder: `bavail` blocks of `bsize` bytes.
 */
export async function spaceError(
  error: unknown,
  folder: string,
  look: (path: string) => Promise<{ bavail: number; bsize: number }> = statfs,
): Promise<unknown> {
  const disk = await look(folder).catch(() => null);
  if (disk === null || disk.bavail * disk.bsize >= NO_SPACE) return error;
  return fileError(Object.assign(new Error('no space left', { cause: error }), { code: 'ENOSPC' }), 'publish', folder);
}

async function start({ settings, objective, place }: TorchOptions): Promise<{ workers: Workers; opened: TorchOpened }> {
  const { checkpoint, blobs, signal } = place;
  const workers = await Workers.start(settings.launch, place);
  try {
    const { startTimeoutMs: timeoutMs } = settings.launch;
    const request = openRequest(settings, objective, { checkpoint, blobs });
    return { workers, opened: checked('open', await workers.ask(request, { timeoutMs, signal })) };
  } catch (error) {
    await workers.close();
    throw error;
  }
}

/** An answer of the form that the request has. @throws DartError where it is none. */
function checked<T extends keyof typeof answers>(doing: T, answer: unknown): z.infer<(typeof answers)[T]> {
  const parsed = answers[doing].safeParse(answer);
  if (parsed.success) return parsed.data as z.infer<(typeof answers)[T]>;
  const { path, message } = parsed.error.issues[0]!;
  throw broken(doing, `${path.join('.')}: ${message}`);
}

function broken(doing: string, what: string): DartError {
  return new DartError(`the ranks' answer is not what was asked for (${what})`, {
    where: `torch engine, ${doing}`,
    hint: 'native/torch and this command of one version of the package',
  });
}

/** The sums by our names: `reference_kl` is referenceKl. */
function statisticsOf(sums: Readonly<Record<string, number>>): PolicyStatistics {
  const statistics = addStatistics([]);
  for (const [name, value] of Object.entries(sums)) {
    const key = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (key in statistics) statistics[key as keyof PolicyStatistics] = value;
  }
  return statistics;
}

/** What else there is to report; names that the table of metrics does not have are not reported. */
function metricsOf({ more, seconds, memory_bytes }: z.infer<typeof answers.step>): TrainMetrics {
  const times = Object.entries(seconds ?? {}).map(([name, value]) => [`${name}_s`, value] as const);
  const all = [...Object.entries(more ?? {}), ...times, ['memory_bytes', memory_bytes ?? null] as const];
  const named = all.map(([name, value]) => [`train/${name}`, value] as const);
  const known = named.filter((entry): entry is [TrainMetric, number | null] => entry[0] in TRAIN_METRICS);
  return Object.fromEntries(known);
}
