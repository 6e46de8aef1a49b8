import type { PolicyStatistics } from '../../native/index.ts';
import type { Example } from './examples.ts';
import type { TrainMetrics } from './metrics.ts';
import type { Spelling } from './spelling.ts';
import type { TrainerState } from './state.ts';

/** The steps of one episode, in order: its log-probability is the sum over all tokens of their replies. */
export type Episode = readonly Example[];

export interface Pair {
  chosen: Episode;
  rejected: Episode;
}

export interface LabelledEpisode {
  episode: Episode;
  /** True for a desirable one. */
  label: boolean;
}

/** What an update, or one of its optimiser steps, learns from; a unit is never divided. */
export type Batch =
  | { kind: 'policy' | 'sft'; units: readonly Example[] }
  | { kind: 'dpo'; units: readonly Pair[] }
  | { kind: 'kto'; units: readonly LabelledEpisode[] };

/** All steps of a batch, unit by unit. */
export function examplesOf(batch: Batch): readonly Example[] {
  if (batch.kind === 'dpo') return batch.units.flatMap(({ chosen, rejected }) => [...chosen, ...rejected]);
  if (batch.kind === 'kto') return batch.units.flatMap(({ episode }) => [...episode]);
  return batch.units;
}

export interface StepSettings {
  lr: number;
  /** True where the policy has not moved since the start of the update: r is 1 and logo the current log-probability. */
  onPolicy: boolean;
}

/** What one optimiser step did. */
export interface StepResult {
  /** False where the loss or the gradient was not finite: the weights are as they were. */
  applied: boolean;
  loss: number;
  gradNorm: number;
  /** Sums over the step's tokens. */
  statistics: PolicyStatistics;
  /** What else the engine has to say of the step; means of it are reported. */
  more?: TrainMetrics;
}

/**
 * Holds a model with its optimiser and computes with it, in this process or in others. Knows nothing of schedules,
 * versions or records: those are the same for every engine.
 */
export interface Engine extends Spelling {
  /** Optimiser steps taken so far. */
  readonly optimizerSteps: number;
  /** Mean token entropy of each example under the current weights; keeps their log-probabilities as logo. */
  measure(examples: readonly Example[]): Promise<ArrayLike<number>>;
  /** Keeps log-probabilities under the current weights as logo, of the examples that have none yet. */
  scoreOld(examples: readonly Example[]): Promise<void>;
  /** One optimiser step. @throws DartError naming the sample that cannot be learned from. */
  step(batch: Batch, settings: StepSettings): Promise<StepResult>;
  /** Keeps weights and optimiser as they are now. @returns what puts them back. Absent where there is no room for it. */
  remember?(): () => void;
  /** Writes weights and optimiser into a folder that is there and empty. */
  save(folder: string, state: TrainerState): Promise<void>;
  /** Takes weights and optimiser of a folder that `save` filled. @throws DartError for files of another model. */
  restore(folder: string, state: TrainerState): Promise<void>;
  close(): Promise<void>;
}
