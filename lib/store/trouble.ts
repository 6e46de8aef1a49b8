import { DartError, type DartErrorOptions } from '../errors.ts';

/**
 * What kind of trouble a store is in.
 * `conflict`: another transaction was in the way and this one is undone; again at once.
 * `away`: the store cannot be reached for now; again in a while.
 * `stuck`: it can be reached and cannot take anything (disk full, read-only); trying again does not help.
 */
export type TroubleKind = 'conflict' | 'away' | 'stuck';

/** An error of the store that is no fault of what it was asked: see `Steady` for what follows from it. */
export class StoreTrouble extends DartError {
  readonly kind: TroubleKind;

  constructor(kind: TroubleKind, message: string, options: DartErrorOptions = {}) {
    super(message, options);
    this.name = 'StoreTrouble';
    this.kind = kind;
  }
}

/** Trajectories that the store could not take are in a file, from which the next command takes them up. */
export class KeptInFile extends DartError {
  readonly path: string;
  readonly trajectories: number;

  constructor(message: string, kept: { path: string; trajectories: number }, options: DartErrorOptions = {}) {
    super(message, options);
    this.path = kept.path;
    this.trajectories = kept.trajectories;
  }
}

/** True of what every operation ends in once the store has stayed away for too long. */
export function isGone(error: unknown): boolean {
  return error instanceof StoreTrouble && error.kind === 'away';
}
