import type { AnyRecord, Summary } from '../stream/records.ts';
import { type Batch, examplesOf } from './engine.ts';
import type { TrippedGuard } from './guards.ts';
import type { Learner, LeftUpdate, UpdateResult } from './learner.ts';
import { metricRecords, progressLine, type TrainMetrics } from './metrics.ts';
import type { ClosedGroup } from './publisher.ts';
import { leftUpdate } from './report.ts';
import { type Evaluated, isEvaluation } from './rollback.ts';
import type { SessionOptions } from './session_options.ts';
import { onlineUpdatesOf, rollbacksOf, type TrainerState, updatesOf } from './state.ts';
import { stopReason } from './stopping.ts';
import { listVersions } from './versions.ts';

/** What became of an update: `left` is one that was told to stop before its end. */
export type LearnOutcome = 'made' | 'skipped' | 'left';

/** What one run of the trainer shares between its objectives: counting, reporting, publishing, knowing when to stop. */
export class Session {
  readonly learner: Learner;
  readonly state: TrainerState;
  readonly #options: SessionOptions;
  /** Learned from since the last version. */
  #groups: string[] = [];
  #metrics: TrainMetrics = {};
  /** The counters of the newest version: what was counted since is lost where the run ends without another one. */
  #kept: TrainerState;
  #skipped = 0;
  /** While a version is being loaded, and once an update was left half made, the weights are none that may be published. */
  #astray = false;
  /** True from a rollback to the next update: log-probabilities that were taken before are of other weights. */
  #moved = false;
  /** The rule that ended the run; from then on nothing is published. */
  #tripped: TrippedGuard | null = null;
  readonly #start = performance.now();

  constructor(learner: Learner, state: TrainerState, options: SessionOptions) {
    this.learner = learner;
    this.state = state;
    this.#options = options;
    this.#kept = copyOf(state);
  }

  /**
   * One update and its report. `describe` makes the metrics from the result and the seconds it took; `groups` are
   * acknowledged with the next version, or passed over where the update was skipped: they are in no weights. Of an update
   * that was left nothing stays, and its groups come again.
   * @param spent Seconds that went before it, and its number in the schedule, where that is not the one of online updates.
   */
  async learn(
    batch: Batch,
    groups: readonly string[],
    describe: (result: UpdateResult, seconds: number) => TrainMetrics,
    { seconds = 0, scheduled = onlineUpdatesOf(this.state) }: { seconds?: number; scheduled?: number } = {},
  ): Promise<LearnOutcome> {
    const begin = performance.now();
    if (this.#moved) for (const example of examplesOf(batch)) example.oldLogp = null;
    this.#moved = false;
    const { signal, output } = this.#options;
    const onStep = (done: number, of: number) =>
      output.detail?.(`update ${this.state.updates + 1}: ${done} of ${of} optimiser steps`);
    const result = await this.learner.update(batch, { scheduled, onStep, ...(signal ? { signal } : {}) });
    if (result.left !== null) {
      this.#leave(result.left);
      return 'left';
    }
    const steps = examplesOf(batch).length;
    if (!result.applied) {
      await this.#reportBadUpdate(steps);
      await this.passOver(groups, 'not_finite');
      this.learner.checkBad();
      return 'skipped';
    }
    this.#groups.push(...groups);
    this.state.groups.push(...groups);
    this.state.updates = this.learner.updates;
    this.state.optimizer_step = this.learner.engine.optimizerSteps;
    this.state.samples += steps;
    this.state.tokens += result.statistics.tokens;
    this.#metrics = describe(result, seconds + (performance.now() - begin) / 1000);
    for (const record of metricRecords(this.#metrics, this.state.updates)) await this.#options.output.record(record);
    this.#options.output.progress(progressLine(this.#metrics, this.state.updates));
    if (await this.#trips()) return 'made';
    this.#keepRows();
    const { publishEvery } = this.#options;
    if (publishEvery > 0 && this.state.updates % publishEvery === 0) await this.publish();
    return 'made';
  }

  /**
   * Takes an evaluation of a version, and goes back to the best one where it has fallen.
   * @returns false for any other record, and where nothing is made of evaluations.
   */
  async heed(record: AnyRecord): Promise<boolean> {
    const { evaluations, output } = this.#options;
    if (!evaluations || !isEvaluation(record)) return false;
    const verdict = await evaluations.take(record, this.state);
    if (verdict.is === 'unusable') {
      output.warn(`${verdict.why}; it is not used`);
      return true;
    }
    const { evaluated, best } = verdict;
    const { version, score, low, high } = evaluated;
    const event = { type: 'event', v: 1, event: 'evaluated', version, score, low, high };
    await output.record({ ...event, best_version: best.version, best_score: best.score });
    if (verdict.is === 'fallen') await this.#rollBack(evaluated, best);
    return true;
  }

  /** One line for people. */
  progress(line: string): void {
    this.#options.output.progress(line);
  }

  /** A line for people that stays. */
  note(line: string): void {
    this.#options.output.note(line);
  }

  /** A warning for people. */
  warn(line: string): void {
    this.#options.output.warn(line);
  }

  /** These groups are done with and not learned from; the store hears why. */
  async passOver(groups: readonly string[], reason: string): Promise<void> {
    this.state.groups.push(...groups);
    await this.#options.publisher?.passOver(groups, reason);
  }

  /** Those of these groups that the store has closed, with the reason: nothing is to be learned from them. */
  async closed(groups: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return (await this.#options.publisher?.closed(groups)) ?? new Map();
  }

  /** Tells of a group that is left out. */
  async reportSkipped(group_id: string, reason: string): Promise<void> {
    await this.#options.output.record({ type: 'event', v: 1, event: 'group_skipped', group_id, reason });
  }

  /** The newest version. */
  get #published(): number {
    return this.#kept.updates;
  }

  /** Publishes what was learned since the last version, if anything was. */
  async publish(): Promise<void> {
    const { publisher, output } = this.#options;
    if (!publisher || this.#tripped || this.#astray || this.state.updates === this.#published) return;
    const learned = { groups: this.#groups, metrics: this.#metrics };
    const { checkpoint, overruled } = await publisher.publish(this.learner.engine, this.state, learned);
    this.#groups = [];
    this.#kept = copyOf(this.state);
    await output.record(checkpoint);
    for (const group of overruled) await this.#reportOverruled(group, checkpoint.version);
  }

  /** Which limit was reached; null while there is none. */
  limit(): string | null {
    const { maxUpdates, maxSamples } = this.#options.limits;
    if (this.#tripped) return `stop-if ${this.#tripped.rule}`;
    if (maxUpdates !== null && updatesOf(this.state) >= maxUpdates) return 'max-updates';
    if (maxSamples !== null && this.state.samples >= maxSamples) return 'max-samples';
    return null;
  }

  /**
   * What the run did; `more` is what its objective counts besides. Updates that are in no version count as never made:
   * they come again, and a run that is started again says the same.
   */
  summary(stopped: string, more: Record<string, unknown>): Summary {
    const lost = this.#options.publisher !== null && this.state.updates !== this.#published;
    const state = lost ? this.#kept : this.state;
    const { samples, tokens, epochs, groups } = state;
    const learned = { updates: updatesOf(state), samples, tokens, epochs, groups: groups.length };
    const wall_s = Math.round((performance.now() - this.#start) / 10) / 100;
    const guarded = this.#tripped ? { last_good_version: this.#lastGood(this.#tripped) } : {};
    const counts = {
      ...learned,
      updates_skipped: this.#skipped,
      rollbacks: rollbacksOf(state),
      ...guarded,
      ...more,
    };
    return { type: 'summary', v: 1, command: 'dart-train', version: this.#published, ...counts, stopped, wall_s };
  }

  /** Ends the run before it learns, where it ended in the same way before: by a rule that still holds. */
  async stopAgain(): Promise<void> {
    const { publisher, guards } = this.#options;
    const before = publisher?.stopAfter(this.#published) ?? null;
    if (before !== null && guards?.has(before.rule)) await this.#stopBy(before, 'stopped again');
  }

  /** What is counted of the rules goes into the next version. */
  #keepRows(): void {
    const rows = this.#options.guards?.rows;
    if (rows === undefined) delete this.state.guards;
    else this.state.guards = rows;
  }

  /** Whether the update that was just made breaks a rule: its weights are then not published. */
  async #trips(): Promise<boolean> {
    const { guards, publisher } = this.#options;
    if (!guards) return false;
    const tripped = guards.check(this.#metrics, this.state.updates);
    if (tripped === null) return false;
    // No record can hold an infinite number.
    const told = { ...tripped, value: Number.isFinite(tripped.value) ? tripped.value : null };
    this.#tripped = told;
    // Before anybody hears of it, and may end the process.
    await publisher?.keepStop(this.#published, told);
    await this.#stopBy(told, 'stopped');
    return true;
  }

  /** From here on nothing is published. */
  async #stopBy(tripped: TrippedGuard, how: string): Promise<void> {
    const { output } = this.#options;
    this.#tripped = tripped;
    const { rule, value, since, update } = tripped;
    const versions = { last_good_version: this.#lastGood(tripped), newest_version: this.#published };
    await output.record({ type: 'event', v: 1, event: 'stopped_by_guard', rule, value, since, update, ...versions });
    const good = `version ${versions.last_good_version ?? '-'} is the last good one, version ${this.#published} the newest`;
    const why = `${how} by --stop-if ${rule}: ${value ?? 'an infinite value'} at update ${update}, which is not published`;
    output.warn(`${why}; ${good}. Try: another rule, or none, to go on`);
  }

  /** The newest version of the folder that has no update since the rule began to be broken; null where none is left. */
  #lastGood({ since }: TrippedGuard): number | null {
    const { publisher } = this.#options;
    if (!publisher) return null;
    return listVersions(publisher.dir).findLast((version) => version < since) ?? null;
  }

  /** Weights and optimiser of the best version become the next version. What was learned in between stays learned. */
  async #rollBack(fallen: Evaluated, best: Evaluated): Promise<void> {
    const { publisher, output, guards } = this.#options;
    if (!publisher) return;
    const from = this.state.updates;
    this.#astray = true;
    const { optimizer_step } = await publisher.load(best.version, this.learner.engine);
    this.#astray = false;
    const version = from + 1;
    const rollbacks = rollbacksOf(this.state) + 1;
    Object.assign(this.state, { updates: version, optimizer_step, rolled_back_at: version, rollbacks });
    this.learner.updates = version;
    this.#moved = true;
    guards?.forget();
    this.#keepRows();
    const scores = { evaluated_version: fallen.version, score: fallen.score, best_score: best.score };
    await output.record({ type: 'event', v: 1, event: 'rolled_back', from, to: best.version, version, ...scores });
    const why = `version ${fallen.version} scored ${shown(fallen.score)}, version ${best.version} ${shown(best.score)}`;
    output.warn(`went back from version ${from} to ${best.version}, as version ${version}: ${why}`);
    await this.publish();
  }

  /** Somebody closed the group between the last look at it and the version that has it. */
  async #reportOverruled({ group_id, reason }: ClosedGroup, version: number): Promise<void> {
    const event = { type: 'event', v: 1, event: 'closed_group_learned', group_id, reason, version };
    await this.#options.output.record(event);
    const now = reason === 'already_learned' ? 'the store keeps the version that it had' : 'the store says so now';
    this.#options.output.warn(`group ${group_id} was closed (${reason}) while version ${version} learned it; ${now}`);
  }

  /** An update was told to stop: the run ends with the updates before it, or where those cannot be had, its newest version. */
  #leave(left: LeftUpdate): void {
    const { signal, output } = this.#options;
    if (!left.undone) this.#astray = true;
    const lost = left.undone ? 0 : this.state.updates - this.#published;
    output.warn(leftUpdate(left, { update: this.state.updates + 1, lost, why: signal ? stopReason(signal) : '' }));
  }

  async #reportBadUpdate(steps: number): Promise<void> {
    this.#skipped += 1;
    const reason = 'the loss or its gradient was not finite';
    const event = { type: 'event', v: 1, event: 'update_skipped', reason, steps, after_update: this.state.updates };
    await this.#options.output.record(event);
    this.#options.output.warn(`an update of ${steps} steps was skipped: ${reason}`);
  }
}

function copyOf(state: TrainerState): TrainerState {
  return { ...state, groups: [...state.groups] };
}

function shown(score: number): string {
  return `${(100 * score).toFixed(1)}%`;
}
