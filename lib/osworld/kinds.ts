import type { Guest } from '../guest/guest.ts';
import type { Bridge } from './bridge/kinds.ts';
import type { Fidelity, TaskContext } from './context.ts';
import type { Fields } from './fields.ts';

/** Carries out one set-up step. */
export type StepRunner = (parameters: Fields, context: TaskContext) => Promise<void>;

/**
 * Fetches one state for an evaluator. Files come as `FetchedFile`; what is not there is null where OSWorld says None,
 * and a thrown `MissingFile` where OSWorld raises FileNotFoundError.
 */
export type Getter = (config: Fields, context: TaskContext) => Promise<unknown>;

export interface MetricInput {
  result: unknown;
  /** What the `expected` getter brought; undefined when the task has none. */
  expected: unknown;
  options: Fields;
  /** The metric's name and the task's id, for messages. */
  name: string;
  where: string;
  /** Whether OSWorld's known mistakes are kept; `verified` when missing. */
  fidelity?: Fidelity;
  /** The desktop, for metrics that run code there; missing where files are scored by themselves. */
  guest?: Guest;
  bridge?: Bridge;
}

/**
 * A score 0..1. What the agent left behind (a missing or broken file) is a 0; what the task got wrong (rules that make
 * no sense) is a DartError, never a 0.
 */
export type Metric = (input: MetricInput) => number | Promise<number>;
