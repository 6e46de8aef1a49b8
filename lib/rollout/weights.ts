import { DartError } from '../errors.ts';
import type { Task } from '../stream/records.ts';

/**
 * Reads `chrome=2` (a domain), `chrome/bookmark-tea=0.5` or `bookmark-tea=0` (a task, by its id) into the weight of each
 * task: the product of the `weight` field of its record, of its domain's and of its own, each 1 where none is given.
 * @throws DartError on what is no NAME=NUMBER, on a name given twice, and on one that no task has.
 */
export function taskWeights(pairs: readonly string[], tasks: readonly Task[]): (task: Task) => number {
  const weights = new Map<string, number>();
  for (const pair of pairs) {
    const [name, weight] = parse(pair);
    if (weights.has(name)) throw bad(`${name} was given a weight before`);
    if (!tasks.some((task) => namesOf(task).includes(name))) throw bad(`no task has the domain or the id ${name}`);
    weights.set(name, weight);
  }
  return (task) => namesOf(task).reduce((product, name) => product * (weights.get(name) ?? 1), ownWeight(task));
}

/** The names that a weight may be given to; each name once, should a task be called like its domain. */
function namesOf({ domain, task_id, id }: Task): string[] {
  return [...new Set([domain, task_id, id].filter((name): name is string => typeof name === 'string'))];
}

function ownWeight({ weight, task_id }: Task): number {
  if (weight === undefined) return 1;
  if (typeof weight === 'number') return weight;
  throw bad(`the weight of task ${task_id} is no number`);
}

function parse(pair: string): [string, number] {
  const split = pair.lastIndexOf('=');
  const value = pair.slice(split + 1);
  if (split < 1 || !/^\d+(\.\d+)?$|^\.\d+$/.test(value)) throw bad(`cannot read "${pair}"`);
  return [pair.slice(0, split), Number(value)];
}

function bad(message: string): DartError {
  return new DartError(message, { where: '--weight', hint: '--weight chrome=2, or a task id instead of the domain' });
}
