import type { ExpertStep } from '../osworld/expert.ts';
import { expertAction, expertOf, findWidget } from '../osworld/expert.ts';
import type { ExpertSource } from '../policy/script.ts';
import type { Task } from '../stream/records.ts';

const known = new WeakMap<Task, ExpertStep[] | null>();

/** Experts as task files carry them, for the script policy. Each task's is checked once. */
export const taskExperts: ExpertSource<ExpertStep> = {
  expertOf(task) {
    if (!known.has(task)) known.set(task, expertOf(task));
    return known.get(task)!;
  },
  expertAction(step, tree) {
    const missing = [step.target, step.to].some((target) => target && !findWidget(target, tree));
    return missing ? null : expertAction(step, tree);
  },
  namesWidget: (step) => step.target !== undefined,
};
