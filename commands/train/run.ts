import { join } from 'node:path';
import { checkInputs, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import { xdgFolder } from '../../lib/cli/paths.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { checkTrainable } from '../../lib/policy/network/trainable.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { lockFolder, policyInFolder, preparePolicy, runIdOf } from '../../lib/training/folder.ts';
import { FrameCache } from '../../lib/training/frames.ts';
import { LocalEngine } from '../../lib/training/local_engine.ts';
import { NetworkModel } from '../../lib/training/network_model.ts';
import { needsReference } from '../../lib/training/presets.ts';
import { Publisher } from '../../lib/training/publisher.ts';
import { runTraining } from '../../lib/training/run.ts';
import { givenBlobs } from '../blobs.ts';
import { givenStore } from '../store.ts';
import { chooseMachine, type Machine } from './device.ts';
import { checkEvaluations, withEvaluations } from './evaluations.ts';
import { guardSettings } from './guard_options.ts';
import { readTrainingInput } from './input.ts';
import { Report } from './report.ts';
import { numberOf, type TrainSettings, textOf, trainingConfig } from './settings.ts';
import { startingPolicy } from './source.ts';
import { StopSwitch } from './stop.ts';
import { TensorBoard } from './tensorboard.ts';

/** `dart-train`: wires input, policy, folder and store to a run of training. */
export async function run(context: CommandContext): Promise<number> {
  const machine = chooseMachine(context);
  const options = trainingConfig(context.options, machine.device);
  const settings = { ...options, ...guardSettings(context.options, options.objective) };
  const dir = publishFolder(context);
  givenBlobs(context);
  const source = startingPolicy(context, dir);
  if (context.options['dry-run'] === true) {
    if (source === null) checkFolder(dir);
    return dryRun(context, settings);
  }
  await checkInputs(context.positionals, context.io);
  await checkEvaluations(context);
  const unlock = lockFolder(dir);
  const stop = new StopSwitch(context.io.signal, numberOf(context.options, 'max-seconds'));
  try {
    const base = await preparePolicy(dir, source, textOf(context.options, 'init-from') === null);
    return await train(context, { dir, policy: base.path, stop, machine }, { ...settings, baseSha256: base.sha256 });
  } finally {
    stop.release();
    unlock();
    // A writer upstream learns in this way that nobody reads on.
    if (readsStdin(context) && !context.io.stdin.readableEnded) context.io.stdin.destroy();
  }
}

interface Place {
  dir: string;
  policy: string;
  stop: StopSwitch;
  machine: Machine;
}

async function train(
  context: CommandContext,
  place: Place,
  config: TrainSettings & { baseSha256: string },
): Promise<number> {
  const { options } = context;
  const { dir, policy, stop, machine } = place;
  logOf(context).info(machine.text);
  const blobs = givenBlobs(context) ?? new BlobStore(join(xdgFolder('state', context.io.env), 'blobs'));
  const engine = await openEngine(policy, config, { threads: machine.threads, frames: new FrameCache(blobs) });
  const store = await givenStore(context);
  const tensorboard = await TensorBoard.open(context);
  const report = new Report(context, await openOutput(context), stop, tensorboard);
  const bad = new BadRecords(context);
  const runId = textOf(options, 'run-id') ?? runIdOf(dir);
  try {
    const input = withEvaluations(context, readTrainingInput(context, stop.signal, bad), stop.signal);
    const summary = await runTraining(input, config, {
      engine,
      publisher: new Publisher({ dir, runId, keep: numberOf(options, 'keep-versions')!, store }),
      output: report,
      passOn: (record) => report.record(record),
      onBadRecord: (error) => bad.take(error),
      signal: stop.signal,
    });
    await report.finish({ ...summary, run_id: runId, records_skipped: bad.count });
    if (bad.count > 0) return EXIT.failure;
    if (String(summary.stopped).startsWith('stop-if ')) return EXIT.negative;
    return summary.stopped === 'end-of-input' && summary.updates === 0 ? EXIT.negative : EXIT.ok;
  } finally {
    report.close();
    await tensorboard?.close();
    await store?.close();
    await engine.close();
  }
}

/** The policy, with a second one that stays as it is where the loss needs it. */
async function openEngine(
  policy: string,
  { objective, engine: settings }: TrainSettings,
  { threads, frames }: { threads: number; frames: FrameCache },
): Promise<LocalEngine> {
  const open = () => NetworkModel.open(policy, { threads, microBatch: settings.microBatch });
  const model = await open();
  const reference = needsReference(objective) ? await open() : null;
  return new LocalEngine(model, { ...settings, objective }, { frames, reference });
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

/** The policy of the folder, which a run would go on from, can be trained. */
function checkFolder(dir: string): void {
  const { bytes, path } = policyInFolder(dir);
  checkTrainable(bytes, path);
}

async function dryRun(context: CommandContext, settings: TrainSettings): Promise<number> {
  const output = await openOutput(context);
  await output.write({ type: 'event', v: 1, event: 'dry_run', command: 'dart-train', settings });
  await output.close();
  return EXIT.ok;
}
