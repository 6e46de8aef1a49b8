import { DartError } from '../errors.ts';
import type { CircuitOptions } from './circuit.ts';
import type { WorkerState } from './worker.ts';

/** One worker went from one version to another, or tried to. */
export interface WorkerSync {
  worker_id: string;
  from_version: number;
  to_version: number;
  /** Waiting for its requests in flight. */
  drain_ms: number;
  load_ms: number;
  error?: string;
  /** What `error` is the message of. */
  cause?: unknown;
}

export interface WorkerPoolOptions {
  /** After so many failures in a row a worker of this process gets no more requests. */
  maxFailures?: number;
  /** For workers outside of this process, which may come back. */
  circuit?: CircuitOptions;
  healthIntervalMs?: number;
  /** While all workers are down, how long requests wait for one to come back before the run ends. */
  patienceMs?: number;
  /**
   * @param out it has gone down with this, and was not told to be down before
   * @param mayReturn whether it is watched, and gets requests again once it is back
   */
  onFailure?: (worker: string, error: unknown, out: boolean, mayReturn: boolean) => void;
  /** A worker that was told to be down has answered a request. */
  onBack?: (worker: string) => void;
  /** What to do where no worker is left that might come back, for the message. */
  whenNoneLeft?: string;
  onSync?: (sync: WorkerSync) => void;
  /** A worker got a request while it had none, +1, or its last one has come back, −1. */
  onBusy?: (change: 1 | -1, worker: string) => void;
  onState?: (worker: string, state: WorkerState, version: number) => void;
}

/** No worker is left that could answer: not the failure of one episode but the end of the run. */
export class NoPolicyLeft extends DartError {}
