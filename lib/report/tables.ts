import type { Comparison } from './compare.ts';
import type { Evaluation, Score } from './evaluation.ts';

export type Row = readonly (string | number | null)[];

/** `0.4567` → `45.7%`. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

/** Head and rows of the table by domain, the whole last. */
export function domainTable(evaluation: Evaluation): [head: readonly string[], rows: readonly Row[]] {
  const rows = [...evaluation.byDomain()].map(([domain, score]) => row(domain, score));
  return [
    ['domain', 'success', '95% interval', 'scored', 'rollouts', 'steps'],
    [...rows, row('all', evaluation.total())],
  ];
}

function row(name: string, { score, scored, rollouts, meanSteps }: Score): Row {
  const interval = score ? `${percent(score.low)}–${percent(score.high)}` : null;
  return [name, score ? percent(score.value) : null, interval, scored, rollouts, meanSteps.toFixed(1)];
}

/** Head and rows of a comparison: the tasks that moved most first, `limit` of them, then the mean of all. */
export function comparisonTable(comparison: Comparison, limit = 20): [head: readonly string[], rows: readonly Row[]] {
  const moved = comparison.tasks
    .filter((task) => task.after !== task.before)
    .sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
    .slice(0, limit)
    .map((task) => [task.task_id, percent(task.before), percent(task.after), signed(task.after - task.before)]);
  return [
    ['task', 'before', 'after', 'gain'],
    [...moved, ['all', percent(comparison.before), percent(comparison.after), signed(comparison.gain.value)]],
  ];
}

/** Percentage points with a sign. */
export function signed(difference: number): string {
  return `${difference >= 0 ? '+' : '−'}${(100 * Math.abs(difference)).toFixed(1)} pt`;
}
