import { Random } from '../stream/random.ts';
import type { Task } from '../stream/records.ts';
import { type LengthLimits, rolloutNumber, stepLimit } from './dynamic.ts';
import { groupSeed } from './seeds.ts';
import type { TaskProgress } from './task_progress.ts';
import { Turns } from './turns.ts';

/** The rollouts of one task that are planned together: same desktop seed, same cap. */
export interface Group {
  group_id: string;
  task: Task;
  /** How many rollouts it has. */
  size: number;
  /** Which of them (0 … size − 1) are to be done here; another process, or an earlier run, has the rest. */
  members: readonly number[];
  /** Seed of its desktop. */
  seed: number;
  maxSteps: number;
}

export interface PlannerOptions {
  tasks: readonly Task[];
  /** Rollouts of a group in full (n). */
  rollouts: number;
  seed: number;
  /** Begins every group id, so that the same run plans the same groups wherever and whenever it is resumed. */
  runId: string;
  /** How many times to go through the tasks; Infinity: until told to stop. */
  sweeps: number;
  evaluation?: boolean;
  dynamicRollouts: boolean;
  dynamicLength: boolean;
  limits: LengthLimits;
  progress: TaskProgress;
  /** How often a task gets a group, against 1 for the others; by default all are alike. */
  weight?: (task: Task) => number;
}

/**
 * Plans groups: sweep after sweep over the tasks, each sweep in a fresh order given by the seed, so that all tasks get
 * equally many groups, or as many as their weights say. Dynamic number and length (design §7) are read when a group is
 * planned.
 */
export class GroupPlanner {
  readonly #options: PlannerOptions;
  readonly #random: Random;
  readonly #turns: Turns;
  /** Groups planned so far of each task that had one. */
  readonly #planned = new Map<string, number>();
  #sweep: Task[] = [];
  #sweeps = 0;

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.#random = new Random(`${options.seed}/sweeps`);
    this.#turns = new Turns(options.tasks, options.weight);
  }

  /** The next group; null when each task had all its turns. */
  async next(): Promise<Group | null> {
    while (this.#sweep.length === 0) if (!this.#beginSweep()) return null;
    const task = this.#sweep.pop()!;
    const { options, counter } = { options: this.#options, counter: this.#count(task) };
    const known = options.dynamicRollouts || options.dynamicLength ? await options.progress.of(task.task_id) : null;
    const { limits } = options;
    const size = options.dynamicRollouts
      ? rolloutNumber(known?.successRate ?? null, options.rollouts)
      : options.rollouts;
    return {
      group_id: `${options.runId}/${task.task_id}/${counter}`,
      task,
      size,
      members: Array.from({ length: size }, (_, index) => index),
      seed: groupSeed(options.seed, task.task_id, counter, options.evaluation),
      maxSteps: options.dynamicLength ? stepLimit(known?.longestSuccess ?? null, limits) : limits.maxSteps,
    };
  }

  #beginSweep(): boolean {
    const { tasks, sweeps } = this.#options;
    if (tasks.length === 0 || this.#sweeps >= sweeps) return false;
    this.#sweeps += 1;
    this.#sweep = this.#random.shuffle(this.#turns.sweep());
    return true;
  }

  /** Which group of its task this is, from 0. */
  #count({ task_id }: Task): number {
    const before = this.#planned.get(task_id) ?? 0;
    this.#planned.set(task_id, before + 1);
    return before;
  }
}
