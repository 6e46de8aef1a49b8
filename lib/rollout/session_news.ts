import { messageOf } from '../errors.ts';
import type { Trajectory } from '../stream/records.ts';
import type { SessionNotes } from './session_options.ts';
import type { WorkerSync } from './worker_pool.ts';

/** What a session tells people, each thing once, however often it happens. */
export class SessionNews {
  readonly #notes: SessionNotes;
  readonly #told = new Set<string>();

  constructor(notes: SessionNotes) {
    this.#notes = notes;
  }

  /** Somebody else is going to tell of this error. */
  willBeTold(error: unknown): void {
    this.#told.add(messageOf(error));
  }

  /** An error that ends nothing. */
  error(error: unknown): void {
    this.#once(messageOf(error), messageOf(error));
  }

  /** The first error of each kind is told: where every rollout ends in it, this is the reason. */
  trajectory({ task_id, outcome, error }: Trajectory): void {
    if (error === undefined || error === null) return;
    const reason = error.startsWith(`${task_id}: `) ? error : `${task_id}: ${error}`;
    this.#once(outcome, `first ${outcome}: ${reason}`);
  }

  /** @returns whether the worker has the new version. */
  sync(sync: WorkerSync): boolean {
    const change = `${sync.worker_id}: version ${sync.from_version} → ${sync.to_version}`;
    if (sync.error !== undefined) {
      const message = `${change} failed, the old one serves on: ${sync.error}`;
      this.#once(message, message);
      return false;
    }
    this.#notes.info(`${change} (drained ${Math.round(sync.drain_ms)} ms, loaded ${Math.round(sync.load_ms)} ms)`);
    return true;
  }

  workerDown(worker: string, error: unknown, mayReturn: boolean): void {
    const fate = mayReturn ? 'is down, and gets no requests until it is back' : 'failed too often and is out';
    this.#notes.warn(`policy worker ${worker} ${fate}: ${messageOf(error)}`);
  }

  #once(kind: string, message: string): void {
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#notes.warn(message);
  }
}
