import { DartError, messageOf } from '../errors.ts';
import type { Guest } from '../guest/guest.ts';
import type { Task } from '../stream/records.ts';
import { contextOf, type TaskContext, type TaskOptions, taskError } from './context.ts';
import { Fields } from './fields.ts';
import type { StepRunner } from './kinds.ts';
import { accountSteps } from './steps/accounts.ts';
import { browserSteps } from './steps/browser.ts';
import { fileSteps } from './steps/files.ts';
import { programSteps } from './steps/programs.ts';
import { windowSteps } from './steps/windows.ts';
import type { SetupStep } from './task.ts';
import { stepsOf } from './task.ts';
import { Unsupported } from './unsupported.ts';

/** Every set-up step by its `type` (osworld.md §3). */
export const STEPS: ReadonlyMap<string, StepRunner> = new Map(
  Object.entries({ ...fileSteps, ...programSteps, ...windowSteps, ...browserSteps, ...accountSteps }),
);

/**
 * Brings the guest into the task's initial state. The task is not changed.
 * Throws a DartError naming step and task where a step is unknown or fails.
 */
export async function setupTask(task: Task, guest: Guest, options: TaskOptions = {}): Promise<void> {
  await runSteps(stepsOf(task.config), 'config', contextOf(task, guest, options));
}

/** Runs the steps of `config` or `postconfig` one after the other; `list` names it in messages. */
export async function runSteps(steps: SetupStep[], list: string, context: TaskContext): Promise<void> {
  for (const [index, step] of steps.entries()) {
    context.signal?.throwIfAborted();
    const run = STEPS.get(step.type);
    const name = `${list}[${index}] (${step.type})`;
    if (run === undefined) {
      throw taskError(context, `set-up step ${name} is not supported`, `one of ${[...STEPS.keys()].join(', ')}`);
    }
    await run(new Fields(name, context.task.task_id, step.parameters), context).catch((cause: unknown) => {
      throw stepError(cause, name, context);
    });
  }
}

function stepError(cause: unknown, name: string, context: TaskContext): unknown {
  if (context.signal?.aborted || cause instanceof Unsupported) return cause;
  if (cause instanceof DartError && cause.where === context.task.task_id) return cause;
  const [said, hint] = cause instanceof DartError ? [cause.statement(), cause.hint] : [messageOf(cause), undefined];
  return new DartError(`set-up step ${name} failed: ${said}`, { where: context.task.task_id, hint, cause });
}
