import type { GuardRows } from './guards.ts';

/** What a run learned from in passes, and how far it came with it. Each version keeps it of everything until then. */
export interface LearnedMaterial {
  objective: 'sft' | 'dpo' | 'kto';
  /** Of what is learned from, in its order. */
  sha256: string;
  /** Steps, pairs or episodes of an update. */
  batch: number;
  /** Of the order of each pass. */
  seed: number;
  /** The version at which it began. */
  since: number;
  /** Parts of passes that are done, each an update or one that was skipped. */
  at: number;
  /** Updates that it made. */
  updates: number;
}

/** Counters of a run, all that resuming needs beside weights and moments. No clock times: equal runs, equal bytes. */
export interface TrainerState {
  /** The version that the weights are at: updates, and goings back, which take a number as well. */
  updates: number;
  optimizer_step: number;
  samples: number;
  tokens: number;
  /** Groups learned from or rejected so far: they are not taken again. */
  groups: string[];
  /** Passes that are done over what sft, dpo or kto learned from last. */
  epochs: number;
  /** sha256 of the policy file that the run started from. */
  base_sha256: string;
  /** The version with which the run last went back to an earlier one; absent where it never did. */
  rolled_back_at?: number;
  /** How often it did. */
  rollbacks?: number;
  /** In how many updates in a row the limits of `--stop-if` were passed; absent where none was. */
  guards?: GuardRows;
  /** What sft, dpo and kto learned from; absent where they never did, and in versions from before this was kept. */
  materials?: readonly LearnedMaterial[];
}

/** How often the run went back; versions that were made before this was counted say only that it did. */
export function rollbacksOf({ rollbacks, rolled_back_at }: TrainerState): number {
  return rollbacks ?? (rolled_back_at === undefined ? 0 : 1);
}

/** Updates in all: going back to an earlier version is none. */
export function updatesOf(state: TrainerState): number {
  return state.updates - rollbacksOf(state);
}

/** Updates that samples made, and not sft, dpo or kto: what a schedule of grpo counts. */
export function onlineUpdatesOf(state: TrainerState): number {
  const offline = (state.materials ?? []).reduce((sum, { updates }) => sum + updates, 0);
  return updatesOf(state) - offline;
}

/** The counters of a run that has not begun. */
export function freshState(baseSha256: string): TrainerState {
  return { updates: 0, optimizer_step: 0, samples: 0, tokens: 0, groups: [], epochs: 0, base_sha256: baseSha256 };
}
