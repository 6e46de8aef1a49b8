import { DartError, messageOf } from '../errors.ts';
import type { Guest } from '../guest/guest.ts';
import type { Task } from '../stream/records.ts';
import { contextOf, type EvaluateOptions, isFile, MissingFile, type TaskContext, taskError } from './context.ts';
import { Fields, optionsOf } from './fields.ts';
import { browserGetters } from './getters/browser.ts';
import { fileGetters } from './getters/files.ts';
import { generalGetters } from './getters/general.ts';
import { mediaGetters } from './getters/media.ts';
import { officeGetters } from './getters/office.ts';
import type { Getter, Metric } from './kinds.ts';
import { METRICS } from './metrics/index.ts';
import { runSteps } from './setup.ts';
import type { Evaluator, GetterConfig } from './task.ts';
import { evaluatorOf } from './task.ts';
import { Unsupported } from './unsupported.ts';

/** Every getter by its `type` (osworld.md §4). */
export const GETTERS: ReadonlyMap<string, Getter> = new Map(
  Object.entries({ ...generalGetters, ...fileGetters, ...browserGetters, ...mediaGetters, ...officeGetters }),
);

/**
 * OSWorld's `evaluate()` (osworld.md §5): post-configuration, `infeasible` and FAIL, then the metrics with `and`
 * (any 0 ends with 0, else the mean) or `or` (any 1 ends with 1, else the greatest).
 * @returns the score, 0..1
 * Throws a DartError naming the task where a getter or metric is unknown or breaks: that is an evaluator error, never
 * a score of 0. Only a file that a result getter finds missing is a 0.
 */
export async function evaluateTask(task: Task, guest: Guest, options: EvaluateOptions): Promise<number> {
  const context = contextOf(task, guest, options);
  const evaluator = evaluatorOf(task);
  await runSteps(evaluator.postconfig, 'postconfig', context);
  const failed = options.lastAction?.type === 'fail';
  if (!evaluator.isList && evaluator.funcs[0] === 'infeasible') return failed ? 1 : 0;
  if (failed) return 0;
  return evaluator.isList ? combine(evaluator, context) : scoreOne(evaluator, 0, context);
}

async function combine(evaluator: Evaluator, context: TaskContext): Promise<number> {
  const scores: number[] = [];
  for (const index of evaluator.funcs.keys()) {
    const score = await scoreOne(evaluator, index, context);
    if (evaluator.conj === 'and' && score === 0) return 0;
    if (evaluator.conj === 'or' && score === 1) return 1;
    scores.push(score);
  }
  if (evaluator.conj === 'or') return Math.max(...scores);
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

async function scoreOne(evaluator: Evaluator, index: number, context: TaskContext): Promise<number> {
  context.signal?.throwIfAborted();
  const name = evaluator.funcs[index]!;
  const metric = METRICS.get(name);
  if (metric === undefined) {
    throw taskError(context, `metric ${name} is not supported`, 'a task whose evaluator uses a supported metric');
  }
  const resultConfig = evaluator.results[index] ?? null;
  const expectedConfig = evaluator.expecteds[index] ?? null;
  let result: unknown;
  try {
    result = await fetchState(resultConfig, 'result', context);
  } catch (error) {
    if (error instanceof MissingFile) return 0;
    throw error;
  }
  const expected = isShadowed(expectedConfig, resultConfig, result, context)
    ? result
    : await fetchState(expectedConfig, 'expected', context);
  const options = optionsOf(name, context.task.task_id, evaluator.options[index]);
  return runMetric(name, metric, { result, expected, options }, context);
}

/**
 * OSWorld keeps both files under the name `dest`: where the task gives them one name, the expected file is not fetched,
 * for there is such a file already, and the result is compared with itself. `strict` fetches it.
 */
function isShadowed(
  expected: GetterConfig | null,
  config: GetterConfig | null,
  result: unknown,
  { protocol }: TaskContext,
): boolean {
  if (protocol.fidelity === 'strict' || expected?.type !== 'cloud_file' || config?.type !== 'vm_file') return false;
  return isFile(result) && typeof config.dest === 'string' && config.dest === expected.dest;
}

async function fetchState(config: GetterConfig | null, side: string, context: TaskContext): Promise<unknown> {
  if (config === null) return undefined;
  const getter = GETTERS.get(config.type);
  const name = `${side} getter ${config.type}`;
  if (getter === undefined) {
    throw taskError(context, `${name} is not supported`, `one of ${[...GETTERS.keys()].join(', ')}`);
  }
  try {
    return await getter(new Fields(name, context.task.task_id, config), context);
  } catch (cause) {
    if (cause instanceof MissingFile && side === 'result') throw cause;
    throw evaluatorError(cause, name, context);
  }
}

async function runMetric(
  name: string,
  metric: Metric,
  input: { result: unknown; expected: unknown; options: Fields },
  context: TaskContext,
): Promise<number> {
  let score: number;
  try {
    const { task, guest, bridge, protocol } = context;
    score = await metric({ ...input, name, where: task.task_id, fidelity: protocol.fidelity, guest, bridge });
  } catch (cause) {
    throw evaluatorError(cause, `metric ${name}`, context);
  }
  if (score >= 0 && score <= 1) return score;
  throw taskError(context, `metric ${name} gave ${score}, which is not a score from 0 to 1`);
}

function evaluatorError(cause: unknown, name: string, context: TaskContext): unknown {
  if (context.signal?.aborted || cause instanceof Unsupported) return cause;
  if (cause instanceof DartError && cause.where === context.task.task_id) return cause;
  return new DartError(`${name} failed: ${messageOf(cause)}`, { where: context.task.task_id, cause });
}
