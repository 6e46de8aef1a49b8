import { messageOf } from '../errors.ts';
import { counted } from '../stream/counted.ts';
import type { ReadRecord } from '../stream/reader.ts';
import type { AnyRecord, Summary } from '../stream/records.ts';
import { untilAborted } from '../stream/waiting.ts';
import { collectDemonstrations } from './demonstrations.ts';
import type { Engine } from './engine.ts';
import { learnInEpochs, type Material, updatesInEpochs } from './epochs.ts';
import { type GuardRule, Guards } from './guards.ts';
import { Place } from './learned.ts';
import { Learner, type LearnerSettings, TooManyBadUpdates } from './learner.ts';
import { trainOnSamples } from './online.ts';
import { collectPreferences } from './preferences.ts';
import type { Objective } from './presets.ts';
import type { Publisher } from './publisher.ts';
import { Evaluations, type RollbackRules } from './rollback.ts';
import { warmupAdvice } from './schedule.ts';
import { Session } from './session.ts';
import type { SessionLimits, SessionOutput } from './session_options.ts';
import { freshState, onlineUpdatesOf, type TrainerState, updatesOf } from './state.ts';
import { stopReason } from './stopping.ts';

export interface TrainingConfig {
  objective: Objective;
  learner: LearnerSettings;
  /** Steps that make an update; of dpo pairs, of kto episodes, where `batchGroups` does not say how many. */
  batchSamples: number;
  batchGroups: number | null;
  limits: SessionLimits;
  /** Updates between versions; 0 publishes at the end (and after each pass of sft, dpo and kto) only. */
  publishEvery: number;
  /** sft: least reward that is imitated; null takes every scored trajectory. */
  minReward: number | null;
  baseSha256: string;
  /** Rules about the metrics that end the run. */
  stopIf?: readonly GuardRule[];
  /** What is made of evaluations in the input; null or absent passes them on. */
  rollback?: RollbackRules | null;
}

export interface TrainingSurroundings {
  engine: Engine;
  publisher: Publisher;
  output: SessionOutput;
  /** A record of a type that training does not understand. */
  passOn: (record: AnyRecord) => Promise<void>;
  /** A record that is not as it should be: throws, or counts it. */
  onBadRecord: (error: unknown) => void;
  /** Hears the summary of a run that an error ended, before the error is thrown. */
  onFailure?: (summary: Summary) => Promise<void>;
  signal: AbortSignal;
}

/**
 * A whole run: goes on from the newest version of the folder (or publishes the start as version 0), learns until the
 * input ends or a limit is reached, publishes, and says what it did.
 * @throws what ended the run, after `onFailure` has heard what it did until then.
 */
export async function runTraining(
  input: AsyncIterable<ReadRecord>,
  config: TrainingConfig,
  around: TrainingSurroundings,
): Promise<Summary> {
  const { objective } = config;
  if (objective.kind !== 'policy') return runInEpochs(input, objective, config, around);
  const session = await openSession(config, (state) => scheduledToLimit(config, state), around);
  const { batchSamples, batchGroups } = config;
  const failed = (error: unknown, counts: object) => tellFailure(session, error, counts, around);
  const options = { objective: objective.policy, batchSamples, batchGroups, failed, ...around };
  const { stopped, ...counts } = await trainOnSamples(session, input, options);
  return session.summary(stopped, counts);
}

/** A schedule without an end of its own falls until `--max-updates`, which counts all updates and not only its own. */
function scheduledToLimit({ learner, limits }: TrainingConfig, state: TrainerState): LearnerSettings {
  const { maxUpdates } = limits;
  const left = maxUpdates === null ? null : maxUpdates - (updatesOf(state) - onlineUpdatesOf(state));
  return { ...learner, schedule: { ...learner.schedule, total: learner.schedule.total ?? left } };
}

async function tellFailure(
  session: Session,
  error: unknown,
  counts: object,
  { onFailure }: TrainingSurroundings,
): Promise<void> {
  const stopped = error instanceof TooManyBadUpdates ? 'max-bad-updates' : 'error';
  await onFailure?.(session.summary(stopped, { ...counts, error: messageOf(error) }));
}

type OfflineObjective = Exclude<Objective, { kind: 'policy' }>;

/** The objectives whose input has an end, which comes before the first update. */
async function runInEpochs(
  input: AsyncIterable<ReadRecord>,
  objective: OfflineObjective,
  config: TrainingConfig,
  around: TrainingSurroundings,
): Promise<Summary> {
  const { signal } = around;
  const { batchSamples, batchGroups, learner } = config;
  const material = await collect(untilAborted(input, signal), objective, config, around);
  if (!signal.aborted && material.problem) throw material.problem;
  const batchUnits = (objective.kind === 'sft' ? null : batchGroups) ?? batchSamples;
  const options = { epochs: learner.epochs, batchUnits, seed: learner.seed, signal };
  const total = learner.schedule.total ?? updatesInEpochs(material.batch.units.length, options);
  const settings = { ...learner, epochs: 1, schedule: { ...learner.schedule, total } };
  const session = await openSession(config, () => settings, around);
  around.output.note(material.note);
  if (signal.aborted) return session.summary(stopReason(signal), material.counts);
  const place = new Place(session.state, material.batch, options);
  const most = (config.limits.maxUpdates ?? Infinity) - place.othersUpdates;
  const updates = Math.min(updatesInEpochs(material.batch.units.length, options), Math.max(0, most));
  for (const advice of [material.advice, warmupAdvice(settings.schedule, updates)]) {
    if (advice) around.output.warn(advice);
  }
  try {
    const stopped = await learnInEpochs(session, material.batch, { ...options, place });
    return session.summary(stopped, material.counts);
  } catch (error) {
    await tellFailure(session, error, material.counts, around);
    throw error;
  }
}

function collect(
  input: AsyncIterable<ReadRecord>,
  objective: OfflineObjective,
  { minReward }: TrainingConfig,
  { engine, passOn, onBadRecord }: TrainingSurroundings,
): Promise<Material> {
  if (objective.kind === 'sft') return collectDemonstrations(input, engine, { minReward, passOn, onBadRecord });
  return collectPreferences(input, engine, objective, { passOn, onBadRecord });
}

async function openSession(
  config: TrainingConfig,
  settings: (state: TrainerState) => LearnerSettings,
  around: TrainingSurroundings,
): Promise<Session> {
  const { publisher, output, engine, signal } = around;
  const state = await begin(engine, publisher, config.baseSha256, output);
  const learner = new Learner(engine, settings(state));
  learner.updates = state.updates;
  const { limits, publishEvery, stopIf = [], rollback } = config;
  const guards = new Guards(stopIf, state.guards);
  const evaluations = rollback ? new Evaluations(publisher.dir, rollback) : null;
  const shared = { limits, publishEvery, output, publisher, signal };
  const session = new Session(learner, state, { ...shared, guards, evaluations });
  await session.stopAgain();
  return session;
}

/** Resumes, or makes version 0 known, so that rollouts can start on it. */
async function begin(
  engine: Engine,
  publisher: Publisher,
  baseSha256: string,
  output: SessionOutput,
): Promise<TrainerState> {
  const version = await publisher.newest();
  for (const line of publisher.warnings(version)) output.warn(line);
  if (version === null) {
    const state = freshState(baseSha256);
    const { checkpoint } = await publisher.publish(engine, state, { groups: [], metrics: {} });
    await output.record(checkpoint);
    return state;
  }
  const state = await publisher.resume(version, engine);
  output.note(
    `going on from version ${version}: ${counted(updatesOf(state), 'update')}, ${counted(state.samples, 'step')} so far`,
  );
  return state;
}
