import type { FailureReason } from './pool_counts.ts';

export interface PoolOptions {
  /** Begins the ids of the desktops, in place of the name of their driver. */
  name?: string;
  /** How many are leased at once at most; the others are spares. By default all. */
  leases?: number;
  /** How many start at once. By default all. */
  starts?: number;
  /** After so many failures in a row a desktop is not replaced any more. */
  maxFailures?: number;
  /** The same of set-ups that failed though the desktop answers. */
  maxFailedSetups?: number;
  /** Pause before a start that follows one that failed, times how many have failed in a row. */
  retryMs?: number;
  /** How often desktops that nobody has are looked at. */
  healthMs?: number;
  /** One that was not seen for so long is looked at before it is leased. */
  freshMs?: number;
  /** Told of each failure: a failed desktop, or one that could not be started. */
  onFailure?: (failure: DesktopFailure) => void;
}

export interface DesktopFailure {
  env_id: string;
  error: unknown;
  reason: FailureReason;
  /** True when this was the last straw. */
  retired: boolean;
}

export interface Release {
  /** What went wrong with the desktop, if anything: it is replaced before it is leased again. */
  failed?: unknown;
  /** A task's own set-up failed, and the desktop still answers: it is likely to be the task's fault. */
  duringSetup?: boolean;
  /** It was used by somebody else than the holder, and is to be replaced though nothing failed. */
  spent?: boolean;
}

/**
 * Between two leases of a busy pool nobody looks: a rollout whose desktop has died is tried on another. Tasks that no
 * desktop can set up lie side by side, a domain whose program is missing: they are passed over, and only desktops on
 * which nothing can be set up are given up.
 */
export const POOL_DEFAULTS = {
  ...{ maxFailures: 3, maxFailedSetups: 100, retryMs: 1000, healthMs: 10_000, freshMs: 1000 },
};
