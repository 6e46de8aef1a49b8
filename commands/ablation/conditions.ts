import type { Trajectory } from '../../lib/stream/records.ts';

/** At or above this share the dynamic rollout number begins to save rollouts (design: 8 up to 0.6). */
export const EASY = 0.6;
/** A step is routine below this many nats a token: the policy is nearly certain of it. */
export const ROUTINE = 0.3;

/** What a suite offers to the five ideas, for one policy. */
export interface Conditions {
  tasks: number;
  rollouts: number;
  success: number;
  /** Tasks without any success: what the experience pool is for. */
  zero: string[];
  /** Tasks of at least 60% success: what the dynamic rollout number saves on. */
  easy: string[];
  /** Steps of failed rollouts, in ascending order: what the dynamic length cuts. */
  failures: number[];
  /** Steps of successful rollouts, in ascending order. */
  successes: number[];
  /** Share of the failed rollouts that ended at the step limit. */
  atLimit: number;
  /**
   * Steps of the failures beyond the cap that dynamic length would set (longest success of the task + 2, at least 5; no
   * success: no cap), as share of all steps.
   */
  beyondCap: number;
  /** Mean token entropy of each step with one, in nats, ascending. */
  entropies: number[];
}

/** Gathers them, one trajectory after another; those that ended in an error are left out. */
export class ConditionsCount {
  readonly #tasks = new Map<string, { rollouts: number; successes: number[]; failures: number[] }>();
  readonly #entropies: number[] = [];
  #failures = 0;
  #atLimit = 0;

  add({ task_id, reward, steps, outcome }: Pick<Trajectory, 'task_id' | 'reward' | 'steps' | 'outcome'>): void {
    if (reward === null) return;
    const task = this.#tasks.get(task_id) ?? { rollouts: 0, successes: [], failures: [] };
    this.#tasks.set(task_id, task);
    task.rollouts += 1;
    (reward > 0.5 ? task.successes : task.failures).push(steps.length);
    if (reward <= 0.5) this.#failures += 1;
    if (reward <= 0.5 && outcome === 'truncated') this.#atLimit += 1;
    for (const { response } of steps) {
      const known = (response.entropies ?? []).filter((entropy) => entropy !== null);
      if (known.length > 0) this.#entropies.push(known.reduce((a, b) => a + b, 0) / known.length);
    }
  }

  conditions(): Conditions {
    const tasks = [...this.#tasks];
    const share = (task: { rollouts: number; successes: number[] }) => task.successes.length / task.rollouts;
    const all = (name: 'successes' | 'failures') => tasks.flatMap(([, task]) => task[name]).sort((a, b) => a - b);
    const [successes, failures] = [all('successes'), all('failures')];
    const steps = [...successes, ...failures].reduce((a, b) => a + b, 0);
    const beyond = tasks.reduce((sum, [, task]) => sum + stepsBeyondCap(task), 0);
    return {
      tasks: tasks.length,
      rollouts: tasks.reduce((sum, [, task]) => sum + task.rollouts, 0),
      success: tasks.reduce((sum, [, task]) => sum + share(task), 0) / tasks.length,
      zero: tasks.filter(([, task]) => task.successes.length === 0).map(([id]) => id),
      easy: tasks.filter(([, task]) => share(task) >= EASY).map(([id]) => id),
      failures,
      successes,
      atLimit: this.#failures > 0 ? this.#atLimit / this.#failures : 0,
      beyondCap: steps > 0 ? beyond / steps : 0,
      entropies: this.#entropies.sort((a, b) => a - b),
    };
  }
}

function stepsBeyondCap({ successes, failures }: { successes: number[]; failures: number[] }): number {
  if (successes.length === 0) return 0;
  const cap = Math.max(5, Math.max(...successes) + 2);
  return failures.reduce((sum, steps) => sum + Math.max(0, steps - cap), 0);
}

/** The value below which this share of the sorted values lies (the lower one of two). */
export function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}

type Row = [condition: string, wanted: string, here: string];

/** The table: each condition, what makes its idea visible, and what is there. */
export function conditionsTable(c: Conditions): { head: string[]; rows: Row[] } {
  const share = (count: number, of: number) => `${((100 * count) / Math.max(1, of)).toFixed(0)}%`;
  const three = (values: readonly number[], digits: number) =>
    [0.1, 0.5, 0.9].map((at) => quantile(values, at)?.toFixed(digits) ?? '–').join(' / ');
  const routine = c.entropies.filter((entropy) => entropy < ROUTINE).length;
  return {
    head: ['condition', 'wanted for', 'here'],
    rows: [
      [
        'success of the base',
        'a start in the middle',
        `${(100 * c.success).toFixed(1)}% of ${c.rollouts} rollouts, ${c.tasks} tasks`,
      ],
      ['tasks without any success', 'pool: a quarter', `${c.zero.length} (${share(c.zero.length, c.tasks)})`],
      ['tasks of 60% or more', 'rollout number: a third', `${c.easy.length} (${share(c.easy.length, c.tasks)})`],
      ['steps of failures, 10% / 50% / 90%', 'length: up to 30', three(c.failures, 0)],
      ['failures that end at the limit', 'length', `${(100 * c.atLimit).toFixed(0)}%`],
      ['steps beyond the dynamic cap', 'length: what it can save at once', `${(100 * c.beyondCap).toFixed(0)}% of all`],
      ['steps of successes, 10% / 50% / 90%', '–', three(c.successes, 0)],
      ['nats a token of a step, 10% / 50% / 90%', 'entropy: a wide spread', three(c.entropies, 2)],
      ['steps below 0.3 nats a token', 'entropy: routine steps', share(routine, c.entropies.length)],
    ],
  };
}
