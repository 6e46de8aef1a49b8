import type { Store } from '../store/index.ts';
import { parseRecord } from '../stream/parse.ts';
import type { ReadRecord } from '../stream/reader.ts';
import type { AnyRecord, Checkpoint, Task, Trajectory } from '../stream/records.ts';
import { leave, Waiting } from '../stream/waiting.ts';
import type { Curator } from './curator.ts';
import { keepLine } from './raw.ts';
import { closeExpired, type RecoveryParts, reclaim, recover, settleAbandoned } from './recovery.ts';
import type { CurrentVersions } from './versions.ts';

export interface LoopParts {
  curator: Curator;
  versions: CurrentVersions;
  store: Store | null;
  /** In place of closing everything at the end of the input, and of all time-outs before it. */
  atEnd?: () => AsyncIterable<AnyRecord>;
  /** With a store and `--follow`: what other processes left in the store is taken up. */
  recovery: RecoveryParts | null;
  write: (record: AnyRecord) => Promise<void>;
  /** Called when nothing more is to be written for now: what was kept back may be needed by the reader. */
  flush?: () => Promise<void>;
  /** A record that is not as it should be: throws, or hands back the event that says it is left out. */
  onBadRecord: (error: unknown) => AnyRecord;
  signal: AbortSignal;
}

const TICK_MS = 1000;
/** Types of records that are looked into; tasks only to store them. */
const WITH_STORE = ['trajectory', 'checkpoint', 'task'] as const;
const WITHOUT_STORE = ['trajectory', 'checkpoint'] as const;
/** Ticks between two looks into the store for members that other processes have stored, or will not make. */
const LOOK_TICKS = 2;
/** Ticks between two looks into the store for groups whose lease has run out. */
const RECLAIM_TICKS = 30;

/** Reads to the end (or until stopped), curates, keeps the time-outs. */
export class CurationLoop {
  /** Called about once a second. */
  onTick: () => void = () => {};
  readonly #parts: LoopParts;
  readonly #waiting: Waiting;
  readonly #runs = new Set<string>();
  #ticks = 0;
  #lastTick = performance.now();

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#waiting = new Waiting(parts.signal, TICK_MS);
  }

  async run(batches: AsyncIterable<readonly ReadRecord[]>): Promise<void> {
    const iterator = batches[Symbol.asyncIterator]();
    let next = iterator.next();
    try {
      await this.#reclaim();
      for (;;) {
        const got = await this.#waiting.for(next);
        if (got === 'stop') return;
        if (got !== 'tick') {
          if (got.done) return await this.#end();
          await this.#take(got.value);
          next = iterator.next();
        }
        if (performance.now() - this.#lastTick >= TICK_MS) await this.#tick();
      }
    } finally {
      // Also where a bad record ends it: the file that it came from is closed.
      next.catch(() => {});
      leave(iterator);
    }
  }

  async #take(batch: readonly ReadRecord[]): Promise<void> {
    let trajectories: Trajectory[] = [];
    for (const read of batch) {
      const checked = this.#check(read);
      if (checked.type === 'trajectory') {
        // What a store holds is spelt anew; what comes from it and what does not must not differ.
        if (read.bytes && !this.#parts.store) keepLine(checked as Trajectory, read.bytes);
        trajectories.push(checked as Trajectory);
        continue;
      }
      await this.#curate(trajectories);
      trajectories = [];
      await this.#passOn(checked);
    }
    await this.#curate(trajectories);
    await this.#parts.flush?.();
  }

  async #curate(trajectories: readonly Trajectory[]): Promise<void> {
    if (trajectories.length === 0) return;
    const { store, curator } = this.#parts;
    await store?.insertTrajectories(trajectories);
    for (const { run_id } of trajectories) await this.#meetRun(run_id);
    await this.#write(curator.take(trajectories, this.#waiting.clock));
  }

  /** The first time that a run is heard of, what the store holds of it is taken up. */
  async #meetRun(runId: string): Promise<void> {
    if (this.#runs.has(runId)) return;
    this.#runs.add(runId);
    const { recovery } = this.#parts;
    if (recovery) await this.#write(recover(recovery, runId, this.#waiting.clock));
  }

  /** Versions and tasks are taken note of; they and everything else pass through. */
  async #passOn(record: AnyRecord): Promise<void> {
    const { versions, store, write } = this.#parts;
    if (record.type === 'checkpoint') versions.checkpoint(record as Checkpoint);
    if (record.type === 'task') await store?.upsertTasks([record as Task]);
    await write(record);
  }

  async #tick(): Promise<void> {
    this.#lastTick = performance.now();
    this.#ticks += 1;
    this.onTick();
    const { curator, recovery } = this.#parts;
    const now = this.#waiting.clock;
    if (recovery && this.#ticks % LOOK_TICKS === 0) await this.#write(settleAbandoned(recovery, now));
    for (const group of this.#parts.atEnd ? [] : curator.expired(now)) {
      await this.#write(recovery ? closeExpired(recovery, group, now) : curator.close(group));
    }
    if (this.#ticks % RECLAIM_TICKS === 0) await this.#reclaim();
  }

  /** Groups that nobody holds come without being asked for by a trajectory: there may never be another. */
  async #reclaim(): Promise<void> {
    const { recovery } = this.#parts;
    if (!recovery) return;
    const runs = recovery.runId === undefined ? [undefined] : new Set([recovery.runId, ...this.#runs]);
    for (const runId of runs) await this.#write(reclaim(recovery, runId));
  }

  /** Nobody will send the missing members any more, except other processes at the same store. */
  async #end(): Promise<void> {
    const { curator, recovery, atEnd } = this.#parts;
    if (atEnd) return this.#write(atEnd());
    if (!recovery) return this.#write(curator.closeAll());
    const now = this.#waiting.clock;
    for (const group of curator.openGroups) await this.#write(closeExpired(recovery, group, now));
  }

  async #write(records: AsyncIterable<AnyRecord>): Promise<void> {
    for await (const record of records) await this.#parts.write(record);
    await this.#parts.flush?.();
  }

  /** The record, checked where its type is one that is looked into; in place of a bad one the event that says so. */
  #check({ record, where }: ReadRecord): AnyRecord {
    const type = this.#understood.find((each) => each === record.type);
    if (type === undefined) return record;
    try {
      return parseRecord(type, record, where);
    } catch (error) {
      return this.#parts.onBadRecord(error);
    }
  }

  get #understood() {
    return this.#parts.store ? WITH_STORE : WITHOUT_STORE;
  }
}
