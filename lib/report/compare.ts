import type { Result } from '../stream/records.ts';
import { bootstrapMean, bootstrapNotBelowZero, type Estimate } from './interval.ts';

export interface TaskGain {
  task_id: string;
  domain: string;
  before: number;
  after: number;
}

export interface Comparison {
  before: number;
  after: number;
  /** Mean of the per-task differences, with its 95% interval over tasks. */
  gain: Estimate;
  /** How likely the data make a gain of 0 or more: small where the second side is really worse. */
  pNotWorse: number;
  tasks: TaskGain[];
  /** Tasks that only one side scored; they take no part in the gain. */
  unpaired: string[];
  /** Tasks of the first side that the second does not have. */
  notRun: string[];
}

/** Which score of a task counts: that of its scored rollouts, or the one with 0 for what could not be scored. */
export type Gate = 'scored' | 'errors-as-zero';

/**
 * Compares two evaluations task by task. Pairing by task removes how hard the tasks are from the difference.
 * Returns null when no task was scored on both sides.
 * With errors as zero, a task that the second side does not have is a 0 there: leaving tasks out must not make it better.
 */
export function compareResults(
  before: readonly Result[],
  after: readonly Result[],
  gate: Gate = 'scored',
): Comparison | null {
  const first = new Map(before.map((result) => [result.task_id, result]));
  const second = new Map(after.map((result) => [result.task_id, result]));
  const tasks: TaskGain[] = [];
  const unpaired: string[] = [];
  for (const id of [...new Set([...first.keys(), ...second.keys()])].sort()) {
    const a = scoreIn(first.get(id), gate);
    const b = gate === 'errors-as-zero' && !second.has(id) ? 0 : scoreIn(second.get(id), gate);
    if (a === null || b === null) unpaired.push(id);
    else tasks.push({ task_id: id, domain: (second.get(id) ?? first.get(id))!.domain, before: a, after: b });
  }
  if (tasks.length === 0 || ![...first.keys()].some((id) => second.has(id))) return null;
  return {
    before: mean(tasks.map((task) => task.before)),
    after: mean(tasks.map((task) => task.after)),
    gain: bootstrapMean(tasks.map(gainOf)),
    pNotWorse: bootstrapNotBelowZero(tasks.map(gainOf)),
    tasks,
    unpaired,
    notRun: [...first.keys()].filter((id) => !second.has(id)).sort(),
  };
}

/** Below this a loss is taken for real: the usual one in twenty. */
const SIGNIFICANT = 0.05;

/** True where the mean has fallen by more than `allowed`, and the tasks are too many or too much alike for chance. */
export function isRegression({ gain, pNotWorse }: Comparison, allowed: number): boolean {
  return gain.value < -allowed - 1e-9 && pNotWorse < SIGNIFICANT;
}

function scoreIn(result: Result | undefined, gate: Gate): number | null {
  if (result === undefined) return null;
  if (gate === 'scored' || result.score === null) return gate === 'scored' ? result.score : 0;
  const { score_errors_as_zero: zero } = result as { score_errors_as_zero?: unknown };
  return typeof zero === 'number' ? zero : result.score;
}

function gainOf(task: TaskGain): number {
  return task.after - task.before;
}

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}
