import { DartError } from '../errors.ts';
import type { Task } from '../stream/records.ts';

/**
 * How many groups each task gets in each sweep. A weight of 2 is two in each, of 0.5 one in every second, of 0 none:
 * what is left of a weight is kept for the next sweep, so that over many sweeps the shares are exact.
 */
export class Turns {
  readonly #tasks: readonly Task[];
  readonly #weights: readonly number[];
  readonly #left: number[];

  /** @throws DartError where a weight is no number of at least 0, or where no task has one above 0. */
  constructor(tasks: readonly Task[], weight: (task: Task) => number = () => 1) {
    this.#tasks = tasks;
    this.#weights = tasks.map((task) => checked(task, weight(task)));
    this.#left = tasks.map(() => 0);
    if (tasks.length > 0 && !this.#weights.some((one) => one > 0)) {
      throw new DartError('every task has weight 0', { where: '--weight', hint: 'a weight above 0 for one of them' });
    }
  }

  /** The tasks of the next sweep, those of weight 2 twice; it may be empty where all weights are below 1. */
  sweep(): Task[] {
    return this.#tasks.flatMap((task, index) => {
      // 10 × 0.1 is a little less than 1 in binary.
      const due = this.#left[index]! + this.#weights[index]! + 1e-9;
      const turns = Math.floor(due);
      this.#left[index] = due - 1e-9 - turns;
      return new Array<Task>(turns).fill(task);
    });
  }
}

function checked({ task_id }: Task, weight: number): number {
  if (Number.isFinite(weight) && weight >= 0) return weight;
  throw new DartError(`Expected a weight of at least 0 for task ${task_id} but received ${weight}`, {
    where: '--weight',
    hint: '--weight chrome=2',
  });
}
