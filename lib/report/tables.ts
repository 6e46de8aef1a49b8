import type { Comparison } from './compare.ts';
import type { Evaluation } from './evaluation.ts';
import type { Score } from './score.ts';

export type Row = readonly (string | number | null)[];

/** `0.4567` → `45.7%`. */
export function percent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)}%`;
}

/** Two numbers in words that differ where the numbers do: `72.08%` and `72.10%`, not `72.1%` twice. */
export function apart(
  format: (value: number, digits: number) => string,
  a: number,
  b: number,
): [first: string, second: string] {
  let digits = 1;
  while (digits < 12 && a !== b && format(a, digits) === format(b, digits)) digits += 1;
  return [format(a, digits), format(b, digits)];
}

type Column = readonly [name: string, cell: (score: Score) => string | number | null];

/**
 * Head and rows of the table by domain, the whole last. Success is that of scored tasks, its interval a bootstrap over
 * tasks. Columns of what could not be scored are there where something could not.
 */
export function domainTable(evaluation: Evaluation): [head: readonly string[], rows: readonly Row[]] {
  const total = evaluation.total();
  const columns = columnsOf(total);
  const row = (name: string, score: Score): Row => [name, ...columns.map(([, cell]) => cell(score))];
  const rows = [...evaluation.byDomain()].map(([domain, score]) => row(domain, score));
  return [
    ['domain', ...columns.map(([name]) => name)],
    [...rows, row('all', total)],
  ];
}

function columnsOf(total: Score): Column[] {
  const powers = total.passAtK.map(({ k }) => k).filter((k) => k > 1);
  const lacking: Column[] = [
    ['with errors 0', ({ zeroRate }) => (zeroRate ? percent(zeroRate.value) : null)],
    ['errored', ({ errored }) => errored],
    ['unsupported', ({ unsupported }) => unsupported],
  ];
  return [
    ['success', ({ rate }) => (rate ? percent(rate.value) : null)],
    ['95% over tasks', ({ rate }) => (rate ? `${percent(rate.low)}–${percent(rate.high)}` : null)],
    ...powers.map((power): Column => [`pass@${power}`, (score) => passOf(score, power)]),
    ['tasks', ({ tasks }) => tasks],
    ...(total.scored < total.rollouts || total.unsupported > 0 ? lacking : []),
    ['scored', ({ scored }) => scored],
    ['rollouts', ({ rollouts }) => rollouts],
    ['steps', ({ meanSteps }) => meanSteps.toFixed(1)],
    ['seconds', ({ meanSeconds }) => meanSeconds.toFixed(1)],
  ];
}

function passOf({ passAtK }: Score, power: number): string | null {
  const found = passAtK.find(({ k }) => k === power);
  return found ? percent(found.value) : null;
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
export function signed(difference: number, digits = 1): string {
  return `${difference >= 0 ? '+' : '−'}${(100 * Math.abs(difference)).toFixed(digits)} pt`;
}

/** Head and rows of the mean gain by domain. */
export function domainGains(comparison: Comparison): [head: readonly string[], rows: readonly Row[]] {
  const domains = [...new Set(comparison.tasks.map(({ domain }) => domain))].sort();
  const rows = domains.map((domain): Row => {
    const tasks = comparison.tasks.filter((task) => task.domain === domain);
    const mean = (side: 'before' | 'after') => tasks.reduce((sum, task) => sum + task[side], 0) / tasks.length;
    return [
      domain,
      tasks.length,
      percent(mean('before')),
      percent(mean('after')),
      signed(mean('after') - mean('before')),
    ];
  });
  return [['domain', 'tasks', 'before', 'after', 'gain'], rows];
}
