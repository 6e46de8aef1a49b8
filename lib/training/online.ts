import { DartError } from '../errors.ts';
import { counted } from '../stream/counted.ts';
import { parseRecord } from '../stream/parse.ts';
import type { ReadRecord } from '../stream/reader.ts';
import { untilAborted } from '../stream/waiting.ts';
import type { Example } from './examples.ts';
import { GroupGatherer, type WholeGroup } from './groups.ts';
import { PassedRecords } from './passed.ts';
import { type BatchSize, Pending } from './pending.ts';
import type { PolicyObjective } from './presets.ts';
import { type Rejections, rejectionOf } from './rejections.ts';
import { groupMetrics, updateMetrics } from './report.ts';
import { selectGroup } from './selection.ts';
import type { Session } from './session.ts';
import { stopReason } from './stopping.ts';
import { unscoredLine } from './unscored.ts';

/** Whole groups are taken, so an update may have a few steps more than `batchSamples`. */
export interface OnlineOptions extends BatchSize {
  objective: PolicyObjective;
  /** Records that are not samples. */
  passOn: (record: ReadRecord['record']) => Promise<void>;
  /** A bad sample record: throws, or counts it. */
  onBadRecord: (error: unknown) => void;
  /** Hears what was counted until an error ended the run, which is thrown then. */
  failed?: (error: unknown, counts: OnlineCounts) => Promise<void>;
  signal: AbortSignal;
}

/** How often the wait for input is told. */
const WAITING_EVERY_MS = 10_000;

export interface OnlineCounts {
  groups_rejected: number;
  groups_held: number;
  /** Groups that the store had closed, and how many for each reason. */
  groups_skipped: number;
  skipped_reasons: Record<string, number>;
  /** Steps of whole groups that were too few for another update. */
  steps_left: number;
  samples_repeated: number;
}

export interface OnlineSummary extends OnlineCounts {
  stopped: string;
}

/**
 * The trainer's main loop: samples come from a pipe, groups are gathered, and whenever enough steps are selected there is
 * an update. Ends at the end of the input (with a last update if at least half a batch is there), at a limit, or when
 * the signal aborts.
 */
export async function trainOnSamples(
  session: Session,
  input: AsyncIterable<ReadRecord>,
  options: OnlineOptions,
): Promise<OnlineSummary> {
  const gatherer = new GroupGatherer(session.state.groups);
  const loop = new OnlineLoop(session, gatherer, options);
  try {
    return { stopped: await runToEnd(loop, gatherer, input, session), ...countsOf(loop, gatherer) };
  } catch (error) {
    await options.failed?.(error, countsOf(loop, gatherer));
    throw error;
  }
}

/** @returns why it ended. */
async function runToEnd(
  loop: OnlineLoop,
  gatherer: GroupGatherer,
  input: AsyncIterable<ReadRecord>,
  session: Session,
): Promise<string> {
  let stopped = session.limit();
  if (stopped === null) stopped = await runAndKeep(loop, input, session);
  await session.publish();
  const unlike = stopped === 'end-of-input' ? loop.passed.describe() : null;
  if (unlike !== null) session.warn(unlike);
  else if (stopped === 'end-of-input' && session.state.updates === 0)
    tellWhy(session, loop.pending.rejections, gatherer);
  return stopped;
}

function countsOf(loop: OnlineLoop, gatherer: GroupGatherer): OnlineCounts {
  return {
    groups_rejected: loop.rejected,
    groups_held: gatherer.held().length,
    groups_skipped: [...loop.skipped.values()].reduce((sum, count) => sum + count, 0),
    skipped_reasons: Object.fromEntries(loop.skipped),
    steps_left: loop.pending.steps,
    samples_repeated: gatherer.repeated,
  };
}

/** A run that had samples and no update says what became of them. */
function tellWhy(session: Session, rejections: Rejections, gatherer: GroupGatherer): void {
  const held = gatherer.held();
  if (rejections.total > 0) session.warn(`nothing could be learned: ${rejections.describe()} (docs/metrics.md)`);
  if (held.length > 0) {
    const { groupId, have, need } = held[0]!;
    session.warn(`${counted(held.length, 'group')} not whole, such as ${groupId} with ${have} of ${need} steps`);
  }
}

/** Runs the loop; bad input ends it, but not before what was learned is published. */
async function runAndKeep(loop: OnlineLoop, input: AsyncIterable<ReadRecord>, session: Session): Promise<string> {
  try {
    return await loop.run(input);
  } catch (error) {
    if (error instanceof DartError) await session.publish().catch(() => {});
    throw error;
  }
}

class OnlineLoop {
  pending = new Pending();
  rejected = 0;
  /** Groups that the store had closed, by reason. */
  readonly skipped = new Map<string, number>();
  readonly passed = new PassedRecords();
  #updating = false;
  #toldUnscored = false;
  /** An update was told to stop before its end. */
  #left = false;
  /** When the last update ended. */
  #updated = performance.now();
  readonly #session: Session;
  readonly #gatherer: GroupGatherer;
  readonly #options: OnlineOptions;

  constructor(session: Session, gatherer: GroupGatherer, options: OnlineOptions) {
    this.#session = session;
    this.#gatherer = gatherer;
    this.#options = options;
  }

  /** @returns why it ended. */
  async run(input: AsyncIterable<ReadRecord>): Promise<string> {
    const waiting = setInterval(() => this.#tellWaiting(), WAITING_EVERY_MS);
    try {
      return await this.#loop(input);
    } finally {
      clearInterval(waiting);
    }
  }

  /** Nobody should have to guess why nothing happens. */
  #tellWaiting(): void {
    if (this.#updating || performance.now() - this.#updated < WAITING_EVERY_MS) return;
    const have = this.pending.describe(this.#options);
    this.#session.progress(
      `waiting for groups: ${have} for the next update, ${this.#gatherer.held().length} groups not whole`,
    );
  }

  async #loop(input: AsyncIterable<ReadRecord>): Promise<string> {
    const { signal } = this.#options;
    let since = performance.now();
    for await (const read of untilAborted(input, signal)) {
      this.pending.waited += (performance.now() - since) / 1000;
      await this.#take(read);
      const limit = this.#session.limit();
      if (limit !== null) return limit;
      since = performance.now();
    }
    if (signal.aborted) return stopReason(signal);
    await this.#updateFrom(0.5);
    // The last update may have been told to stop as well.
    if (this.#left) return stopReason(signal);
    return this.#session.limit() ?? 'end-of-input';
  }

  async #take({ record, where }: ReadRecord): Promise<void> {
    if (await this.#session.heed(record)) return;
    this.passed.count(record.type);
    const left = rejectionOf(record);
    if (left !== null) this.#reject(left);
    if (record.type !== 'sample') return this.#options.passOn(record);
    const group = this.#gather(record, where);
    if (!group || (await this.#skip([group.groupId])).has(group.groupId)) return;
    await this.#select(group);
    await this.#updateFrom(1);
  }

  #gather(record: ReadRecord['record'], where: string): WholeGroup | null {
    try {
      return this.#gatherer.add(parseRecord('sample', record, where), where);
    } catch (error) {
      this.#options.onBadRecord(error);
      return null;
    }
  }

  async #select(group: WholeGroup): Promise<void> {
    const begin = performance.now();
    const { engine } = this.#session.learner;
    const selected = await selectGroup(group, {
      keep: this.#options.objective.keepEntropy,
      spelling: engine,
      measure: (examples) => engine.measure(examples),
    });
    this.pending.seconds += (performance.now() - begin) / 1000;
    if (selected.kept.length > 0) {
      this.pending.groups.push(selected);
      return;
    }
    this.pending.useless.push(group.groupId);
    this.#reject('unspelt');
  }

  #reject(reason: string): void {
    this.pending.rejections.add(reason);
    this.rejected += 1;
  }

  /** An update if the batch is so full, also without the groups that were closed while they waited in it. */
  async #updateFrom(share: number): Promise<void> {
    if (this.pending.share(this.#options) < share) return;
    this.pending.leaveOut(await this.#skip(this.pending.groupIds));
    if (this.pending.share(this.#options) >= share) await this.#update();
  }

  /** Asks which groups the store has closed, and tells of them. Nothing is kept of them: they are not learned. */
  async #skip(groupIds: readonly string[]): Promise<ReadonlySet<string>> {
    const closed = await this.#session.closed(groupIds);
    for (const [groupId, reason] of closed) {
      this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + 1);
      await this.#session.reportSkipped(groupId, reason);
    }
    return new Set(closed.keys());
  }

  async #update(): Promise<void> {
    this.#updating = true;
    await this.#learn();
    this.#updating = false;
    this.#updated = performance.now();
  }

  #tellUnscored(examples: readonly Example[]): void {
    const line = this.#toldUnscored ? null : unscoredLine(examples);
    if (line === null) return;
    this.#toldUnscored = true;
    this.#session.warn(line);
  }

  async #learn(): Promise<void> {
    const { groups, useless, rejections, seconds, waited } = this.pending;
    this.pending = new Pending();
    const of = groupMetrics(groups, this.#session.learner.updates);
    const examples = groups.flatMap((group) => group.kept);
    this.#tellUnscored(examples);
    await this.#session.passOver(useless, 'unspelt');
    const outcome = await this.#session.learn(
      { kind: 'policy', units: examples },
      groups.map((group) => group.groupId),
      (result, duration) => ({
        ...of,
        ...updateMetrics(result, duration),
        ...rejections.metrics(),
        'train/groups_held': this.#gatherer.held().length,
        'train/wait_s': waited,
      }),
      { seconds },
    );
    this.#left = outcome === 'left';
  }
}
