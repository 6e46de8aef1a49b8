import type { Result, Summary, Task, Trajectory } from '../stream/records.ts';
import { SCHEMA_VERSION } from '../stream/records.ts';
import type { Estimate } from './interval.ts';
import {
  countOutcomes,
  mean,
  meanReward,
  meanWithZeros,
  type Score,
  type Scored,
  scoreOf,
  type TaskRollouts,
  trialsOf,
} from './score.ts';

interface Entry extends TaskRollouts {
  byId: Map<string, Scored>;
}

/**
 * Collects trajectories and tells success by task, by domain and in all. What could not be scored is counted apart, and
 * is a 0 only in the numbers that say so (`…_errors_as_zero`).
 */
export class Evaluation {
  readonly #tasks = new Map<string, Entry>();

  /**
   * Takes a trajectory once; false where it was taken before (a stream that was joined with itself). One that was run
   * again after an error (`--resume`) takes the place of the error.
   */
  add(trajectory: Trajectory): boolean {
    const { trajectory_id, task_id, domain, reward, outcome, error } = trajectory;
    const task = this.#taskOf(task_id, domain);
    const before = task.byId.get(trajectory_id);
    if (before && !(before.reward === null && reward !== null)) return false;
    const scored: Scored = { reward, outcome, error, steps: trajectory.steps.length, seconds: secondsOf(trajectory) };
    task.byId.set(trajectory_id, scored);
    if (before) task.rollouts[task.rollouts.indexOf(before)] = scored;
    else task.rollouts.push(scored);
    return true;
  }

  /** A task that cannot be scored here, and why. */
  addUnsupported({ task_id, domain }: Pick<Task, 'task_id' | 'domain'>, reason: string): void {
    this.#taskOf(task_id, domain).unsupported = reason;
  }

  get tasks(): number {
    return this.#tasks.size;
  }

  /** One `result` record a task, in the order of domain and task. */
  results(): Result[] {
    return this.#sorted().map(([task_id, task]) => resultOf(task_id, task));
  }

  byDomain(): Map<string, Score> {
    const domains = new Map<string, TaskRollouts[]>();
    for (const [, task] of this.#sorted()) domains.set(task.domain, [...(domains.get(task.domain) ?? []), task]);
    return new Map([...domains].map(([domain, tasks]) => [domain, scoreOf(tasks)]));
  }

  total(): Score {
    return scoreOf(this.#sorted().map(([, task]) => task));
  }

  /** Rollouts so far, and the mean reward of the scored ones: cheap enough for every line of progress. */
  standing(): { rollouts: number; score: number | null } {
    const rollouts = [...this.#tasks.values()].flatMap((task) => task.rollouts);
    return { rollouts: rollouts.length, score: meanReward({ rollouts }) };
  }

  /** Fields of the closing `summary` record. */
  summary(command: string): Summary {
    const total = this.total();
    const tasks = [...this.#tasks.values()];
    const solved = tasks.filter((task) => (meanReward(task) ?? 0) > 0).length;
    return {
      type: 'summary',
      v: SCHEMA_VERSION,
      command,
      ...named('success', total.score),
      ...named('success_rate', total.rate),
      ...named('success_rate_errors_as_zero', total.zeroRate),
      pass_at_k: Object.fromEntries(total.passAtK.map(({ k, value }) => [k, value])),
      tasks: total.tasks,
      errored: total.errored,
      unsupported: total.unsupported,
      /** Tasks with at least one success, as a share of all. */
      coverage: total.tasks === 0 ? null : solved / total.tasks,
      rollouts: total.rollouts,
      scored: total.scored,
      mean_steps: total.meanSteps,
      mean_seconds: total.meanSeconds,
      outcomes: countOutcomes(tasks.flatMap((task) => task.rollouts)),
    };
  }

  #taskOf(task_id: string, domain: string): Entry {
    const task: Entry = this.#tasks.get(task_id) ?? { domain, rollouts: [], unsupported: null, byId: new Map() };
    this.#tasks.set(task_id, task);
    return task;
  }

  #sorted() {
    return [...this.#tasks].sort(([a, x], [b, y]) => compare(x.domain, y.domain) || compare(a, b));
  }
}

function named(name: string, estimate: Estimate | null): Record<string, number | null> {
  return {
    [name]: estimate?.value ?? null,
    [`${name}_low`]: estimate?.low ?? null,
    [`${name}_high`]: estimate?.high ?? null,
  };
}

function resultOf(task_id: string, task: TaskRollouts): Result {
  const { domain, rollouts, unsupported } = task;
  const trials = trialsOf(task);
  const error = rollouts.find((rollout) => rollout.reward === null)?.error;
  return {
    type: 'result',
    v: SCHEMA_VERSION,
    task_id,
    domain,
    score: meanReward(task),
    score_errors_as_zero: meanWithZeros(task),
    rollouts: rollouts.length,
    scored: trials.rollouts,
    successes: trials.successes,
    mean_steps: mean(rollouts.map((rollout) => rollout.steps)),
    mean_seconds: mean(rollouts.map((rollout) => rollout.seconds)),
    outcomes: countOutcomes(rollouts),
    ...(error === undefined ? {} : { error }),
    ...(unsupported === null ? {} : { unsupported }),
  };
}

function secondsOf({ started_at, finished_at }: Trajectory): number {
  const ms = Date.parse(finished_at) - Date.parse(started_at);
  return ms > 0 ? ms / 1000 : 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
