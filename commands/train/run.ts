import { resolvePath } from '../../lib/cli/input.ts';
import { type Log, logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import { xdgFolder } from '../../lib/cli/paths.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { openStore } from '../../lib/store/index.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import type { TrainableModel } from '../../lib/training/engine.ts';
import { lockFolder, preparePolicy, runIdOf } from '../../lib/training/folder.ts';
import { FrameCache } from '../../lib/training/frames.ts';
import { NetworkModel } from '../../lib/training/network_model.ts';
import { Publisher } from '../../lib/training/publisher.ts';
import { runTraining, type TrainingConfig, type TrainingSurroundings } from '../../lib/training/run.ts';
import type { SessionOutput } from '../../lib/training/session.ts';
import { LimitReached } from '../../lib/training/until.ts';
import { readTrainingInput } from './input.ts';
import { numberOf, textOf, trainingConfig } from './settings.ts';
import { startingPolicy } from './source.ts';

/** `dart-train`: wires input, policy, folder and store to a run of training. */
export async function run(context: CommandContext): Promise<number> {
  const settings = trainingConfig(context.options);
  const dir = publishFolder(context);
  if (context.options['dry-run'] === true) return dryRun(context, settings);
  const unlock = lockFolder(dir);
  try {
    const source = await startingPolicy(context);
    const base = await preparePolicy(dir, source, textOf(context.options, 'init-from') === null);
    return await trainInto(context, dir, base.path, { ...settings, baseSha256: base.sha256 });
  } finally {
    unlock();
  }
}

async function trainInto(context: CommandContext, dir: string, policy: string, config: TrainingConfig) {
  const { options, io } = context;
  const models: TrainableModel[] = [];
  const open = async () => {
    const model = await NetworkModel.open(policy, { threads: numberOf(options, 'threads')! });
    models.push(model);
    return model;
  };
  const storeUrl = textOf(options, 'store');
  const store = storeUrl === null ? null : await openStore(storeUrl);
  const progress = new Progress(context, 'training');
  const output = await openOutput(context);
  const stop = new StopSwitch(io.signal, numberOf(options, 'max-seconds'));
  const { objective } = config.learner;
  try {
    const runId = textOf(options, 'run-id') ?? runIdOf(dir);
    const keep = numberOf(options, 'keep-versions')!;
    const report = reporting(output, progress, stop, logOf(context));
    const bad = new BadRecords(context);
    const around: TrainingSurroundings = {
      model: await open(),
      reference: objective !== 'sft' && objective.klBeta > 0 ? await open() : null,
      frames: new FrameCache(new BlobStore(blobsFolder(context))),
      publisher: new Publisher({ dir, runId, keep, store }),
      output: report,
      passOn: report.record,
      onBadRecord: (error) => bad.take(error),
      signal: stop.signal,
    };
    const input = readTrainingInput(context, stop.signal, bad);
    const summary = await runTraining(input, config, around);
    await report.record(bad.count > 0 ? { ...summary, records_skipped: bad.count } : summary);
    progress.done(`version ${summary.version} after ${summary.updates} updates (${summary.stopped})`);
    await finish(output, stop);
    return bad.count > 0 ? EXIT.failure : EXIT.ok;
  } finally {
    progress.stop();
    stop.release();
    await store?.close();
    for (const model of models) await model.close();
    // A writer upstream learns in this way that nobody reads on.
    if (stop.signal.aborted && readsStdin(context)) io.stdin.destroy();
  }
}

/** Everything that may end a run early: a signal, a reader that has left, --max-seconds. */
class StopSwitch {
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal, maxSeconds: number | null) {
    this.signal = AbortSignal.any([outer, this.#own.signal]);
    if (maxSeconds === null) return;
    this.#timer = setTimeout(() => this.stop(new LimitReached('max-seconds')), maxSeconds * 1000);
  }

  stop(reason: unknown): void {
    this.#own.abort(reason);
  }

  release(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Records out, lines to people. A reader that leaves stops the run, but what was learned is still published: after a stop
 * records that cannot be delivered are let go.
 */
function reporting(output: Output, progress: Progress, stop: StopSwitch, log: Log): SessionOutput {
  return {
    async record(record: AnyRecord) {
      try {
        await output.write(record);
      } catch (error) {
        if (error instanceof ReaderGone) stop.stop(error);
        else if (!stop.signal.aborted) throw error;
      }
    },
    progress: (line) => progress.update(line),
    note: (line) => log.info(line),
  };
}

async function finish(output: Output, stop: StopSwitch): Promise<void> {
  await output.close().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  if (stop.signal.reason instanceof ReaderGone) throw stop.signal.reason;
}

/** Records that are not as they should be: an error, or with `--on-error skip` a warning and a count. */
class BadRecords {
  count = 0;
  readonly #skip: boolean;
  readonly #log: Log;

  constructor(context: CommandContext) {
    this.#skip = context.options['on-error'] === 'skip';
    this.#log = logOf(context);
  }

  take(error: unknown): void {
    if (!this.#skip || !(error instanceof DartError)) throw error;
    this.count += 1;
    this.#log.warn(`left out: ${error.describe()}`);
  }
}

function publishFolder(context: CommandContext): string {
  const dir = textOf(context.options, 'publish');
  if (dir !== null) return resolvePath(context.io, dir);
  throw new DartError('there is nowhere to put what is learned', { where: '--publish', hint: '--publish DIR' });
}

function blobsFolder({ options, io }: CommandContext): string {
  const given = textOf(options, 'blobs');
  return given === null ? `${xdgFolder('state', io.env)}/blobs` : resolvePath(io, given);
}

function readsStdin({ positionals }: CommandContext): boolean {
  return positionals.length === 0 || positionals.includes('-');
}

async function dryRun(context: CommandContext, settings: Omit<TrainingConfig, 'baseSha256'>): Promise<number> {
  const output = await openOutput(context);
  await output.write({ type: 'event', v: 1, event: 'dry_run', command: 'dart-train', settings });
  await output.close();
  return EXIT.ok;
}
