import type { GuardRows } from './guards.ts';

/** Counters of a run, all that resuming needs beside weights and moments. No clock times: equal runs, equal bytes. */
export interface TrainerState {
  /** The version that the weights are at: updates, and goings back, which take a number as well. */
  updates: number;
  optimizer_step: number;
  samples: number;
  tokens: number;
  /** Groups learned from or rejected so far: they are not taken again. */
  groups: string[];
  /** Passes over the demonstrations that are done (sft). */
  epochs: number;
  /** sha256 of the policy file that the run started from. */
  base_sha256: string;
  /** The version with which the run last went back to an earlier one; absent where it never did. */
  rolled_back_at?: number;
  /** How often it did. */
  rollbacks?: number;
  /** In how many updates in a row the limits of `--stop-if` were passed; absent where none was. */
  guards?: GuardRows;
}

/** How often the run went back; versions that were made before this was counted say only that it did. */
export function rollbacksOf({ rollbacks, rolled_back_at }: TrainerState): number {
  return rollbacks ?? (rolled_back_at === undefined ? 0 : 1);
}

/** Updates in all: going back to an earlier version is none. */
export function updatesOf(state: TrainerState): number {
  return state.updates - rollbacksOf(state);
}

/** The counters of a run that has not begun. */
export function freshState(baseSha256: string): TrainerState {
  return { updates: 0, optimizer_step: 0, samples: 0, tokens: 0, groups: [], epochs: 0, base_sha256: baseSha256 };
}
