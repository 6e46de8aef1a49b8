import type { Result } from '../stream/records.ts';
import { bootstrapMean, type Estimate } from './interval.ts';

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
  tasks: TaskGain[];
  /** Tasks that only one side scored; they take no part in the gain. */
  unpaired: string[];
}

/**
 * Compares two evaluations task by task. Pairing by task removes how hard the tasks are from the difference.
 * Returns null when no task was scored on both sides.
 */
export function compareResults(before: readonly Result[], after: readonly Result[]): Comparison | null {
  const first = new Map(before.map((result) => [result.task_id, result]));
  const second = new Map(after.map((result) => [result.task_id, result]));
  const tasks: TaskGain[] = [];
  const unpaired: string[] = [];
  for (const id of [...new Set([...first.keys(), ...second.keys()])].sort()) {
    const a = first.get(id)?.score ?? null;
    const b = second.get(id)?.score ?? null;
    if (a === null || b === null) unpaired.push(id);
    else tasks.push({ task_id: id, domain: second.get(id)!.domain, before: a, after: b });
  }
  if (tasks.length === 0) return null;
  return {
    before: mean(tasks.map((task) => task.before)),
    after: mean(tasks.map((task) => task.after)),
    gain: bootstrapMean(tasks.map((task) => task.after - task.before)),
    tasks,
    unpaired,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}
