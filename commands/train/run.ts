import { join } from 'node:path';
import { checkInputs, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import { xdgFolder } from '../../lib/cli/paths.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError, EXIT, messageOf } from '../../lib/errors.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { Summary } from '../../lib/stream/records.ts';
import type { Engine } from '../../lib/training/engine.ts';
import { lockFolder, runIdOf } from '../../lib/training/folder.ts';
import { Guards } from '../../lib/training/guards.ts';
import type { Objective } from '../../lib/training/presets.ts';
import { Publisher, type VersionStore } from '../../lib/training/publisher.ts';
import { guardAdvice } from '../../lib/training/reported.ts';
import { runTraining } from '../../lib/training/run.ts';
import { listVersions } from '../../lib/training/versions.ts';
import { givenBlobs } from '../blobs.ts';
import { givenStore } from '../store.ts';
import { advice, refuseConflicts } from './conflicts.ts';
import type { ChosenEngine } from './engine.ts';
import { checkEvaluations, withEvaluations } from './evaluations.ts';
import { guardSettings, reportSettings } from './guard_options.ts';
import { readTrainingInput } from './input.ts';
import { openRunOutput, type WritingRun } from './output.ts';
import { Report } from './report.ts';
import { engineOf, numberOf, type TrainSettings, textOf, trainingConfig } from './settings.ts';
import { StopSwitch } from './stop.ts';
import { TensorBoard } from './tensorboard.ts';

/** `dart-train`: wires input, policy, folder and store to a run of training. */
export async function run(context: CommandContext): Promise<number> {
  const { options, io } = context;
  refuseConflicts(options);
  const config = trainingConfig(options);
  const guards = guardSettings(options, config);
  const told = [...advice(options, config), ...guardAdvice(guards.stopIf ?? [], reportSettings(options, config))];
  for (const line of told) logOf(context).warn(line);
  const settings = { ...config, ...guards };
  const dir = publishFolder(context);
  const blobs = givenBlobs(context) ?? new BlobStore(join(xdgFolder('state', io.env), 'blobs'));
  const chosen = await chooseEngine(context, { dir, blobs, objective: config.objective });
  if (options['dry-run'] === true) return dryRun(context, { ...settings, engine: chosen.settings });
  await checkInputs(context.positionals, io);
  await checkEvaluations(context);
  const unlock = lockFolder(dir);
  const stop = new StopSwitch(io.signal, numberOf(options, 'max-seconds'));
  try {
    return await train(context, { dir, stop, chosen }, settings);
  } finally {
    stop.release();
    unlock();
    // A writer upstream learns in this way that nobody reads on.
    if (readsStdin(context) && !io.stdin.readableEnded) io.stdin.destroy();
  }
}

interface Place {
  dir: string;
  stop: StopSwitch;
  chosen: ChosenEngine;
}

/** What an engine brings along is loaded with it. */
async function chooseEngine(
  context: CommandContext,
  place: { dir: string; blobs: BlobStore; objective: Objective },
): Promise<ChosenEngine> {
  if (engineOf(context.options) === 'torch') return (await import('./torch.ts')).chooseTorch(context, place);
  return (await import('./onnx.ts')).chooseOnnx(context, place);
}

async function train(context: CommandContext, { dir, stop, chosen }: Place, settings: TrainSettings): Promise<number> {
  logOf(context).info(chosen.text);
  let report: Report | null = null;
  const progress = (line: string) => report?.detail(line);
  const { engine, baseSha256 } = await chosen.open({ dir, signal: stop.signal, progress });
  const closing: { close(): unknown }[] = [engine];
  try {
    const store = await givenStore(context);
    if (store) closing.push(store);
    const tensorboard = await TensorBoard.open(context);
    if (tensorboard) closing.push(tensorboard);
    const publisher = publisherOf(context, { dir, store, keepStates: chosen.keepStates });
    const output = await openRunOutput(context, await writingRun(publisher, settings));
    report = new Report(context, output, stop, tensorboard);
    closing.push(report);
    return await learn(context, { ...settings, baseSha256 }, { engine, publisher, report, stop });
  } finally {
    for (const part of closing.reverse()) await part.close();
  }
}

/** Where the run is that will write its records. */
async function writingRun(publisher: Publisher, { stopIf = [] }: TrainSettings): Promise<WritingRun> {
  const version = await publisher.newest();
  const stop = version === null ? null : publisher.stopAfter(version);
  const again = stop !== null && new Guards(stopIf).has(stop.rule);
  return { runId: publisher.runId, version, stoppedAt: again ? stop.update : null };
}

async function learn(
  context: CommandContext,
  config: TrainSettings & { baseSha256: string },
  around: { engine: Engine; publisher: Publisher; report: Report; stop: StopSwitch },
): Promise<number> {
  const { engine, publisher, report, stop } = around;
  const bad = new BadRecords(context);
  const input = withEvaluations(context, readTrainingInput(context, stop.signal, bad), stop.signal);
  const named = (summary: Summary): Summary => ({ ...summary, run_id: publisher.runId, records_skipped: bad.count });
  let told = false;
  const onFailure = async (failed: Summary) => {
    told = true;
    await report.fail(named(failed));
  };
  const summary = await runTraining(input, config, {
    engine,
    publisher,
    output: report,
    passOn: (record) => report.record(record),
    onBadRecord: (error) => bad.take(error),
    onFailure,
    signal: stop.signal,
  }).catch(async (error: unknown) => {
    if (!told) await report.abandon(named(withoutUpdate(error, publisher)));
    throw error;
  });
  await report.finish(named(summary));
  if (bad.count > 0) return EXIT.failure;
  if (String(summary.stopped).startsWith('stop-if ')) return EXIT.negative;
  return summary.stopped === 'end-of-input' && summary.updates === 0 ? EXIT.negative : EXIT.ok;
}

/** The summary of a run that ended before it could learn. */
function withoutUpdate(error: unknown, { dir }: Publisher): Summary {
  const stopped = error instanceof DartError && error.exitCode === EXIT.negative ? 'end-of-input' : 'error';
  const version = listVersions(dir).at(-1) ?? null;
  return { type: 'summary', v: 1, command: 'dart-train', version, stopped, error: messageOf(error) };
}

function publisherOf(
  { options }: CommandContext,
  { dir, ...more }: { dir: string; store: VersionStore | null; keepStates?: number },
): Publisher {
  const runId = textOf(options, 'run-id') ?? runIdOf(dir);
  return new Publisher({ dir, runId, keep: numberOf(options, 'keep-versions')!, ...more });
}

/** Records that are not as they should be: an error, or with `--on-error skip` a warning and a count. */
class BadRecords {
  count = 0;
  readonly #context: CommandContext;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  take(error: unknown): void {
    if (this.#context.options['on-error'] !== 'skip' || !(error instanceof DartError)) throw error;
    this.count += 1;
    logOf(this.#context).warnOften('records left out', `left out: ${error.describe()}`);
  }
}

function publishFolder({ options, io }: CommandContext): string {
  const dir = textOf(options, 'publish');
  if (dir !== null) return resolvePath(io, dir);
  throw new DartError('there is nowhere to put what is learned', { where: '--publish', hint: '--publish DIR' });
}

function readsStdin({ positionals }: CommandContext): boolean {
  return positionals.length === 0 || positionals.includes('-');
}

async function dryRun(context: CommandContext, settings: object): Promise<number> {
  const output = await openOutput(context);
  await output.write({ type: 'event', v: 1, event: 'dry_run', command: 'dart-train', settings });
  await output.close();
  return EXIT.ok;
}
